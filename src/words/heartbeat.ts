import { formatAge } from '../model/format.ts';
import type { Heartbeat } from '../model/heartbeat.ts';

/** What lies there and does not beat: of these age tells, not silence. */
const LYING: Readonly<Record<string, string>> = {
  'diagnostic-lock': 'lock',
  'loop-guard': 'loop guard',
  'postflight-marker': 'marker',
};

/** `silent 13m`, `lock 2m old`: in few cells. */
export const beatAlarm = ({ format, ageSeconds }: Heartbeat): string =>
  LYING[format] === undefined
    ? `silent ${formatAge(ageSeconds)}`
    : `${LYING[format]} ${formatAge(ageSeconds)} old`;

const overdue = (beat: Heartbeat): string =>
  LYING[beat.format] === undefined ? `silent for ${formatAge(beat.ageSeconds)}` : beatAlarm(beat);

/** Said first: what is wrong must not be cut off at the edge of a column. */
const TROUBLES = {
  fine: () => '',
  warn: overdue,
  critical: overdue,
  unreadable: beat => beat.reason ?? 'unreadable',
  leftover: beat => beat.reason ?? 'left over',
} satisfies Record<Heartbeat['state'], (beat: Heartbeat) => string>;

/** `task 688, phase 2, checking diagnostics, foo`. */
export const beatAbout = ({ task, phase, operation, proof }: Heartbeat): string =>
  [
    task === null ? '' : `task ${task}`,
    phase === null ? '' : `phase ${phase}`,
    operation?.replaceAll('_', ' ') ?? '',
    proof ?? '',
  ]
    .filter(Boolean)
    .join(', ');

/** Whose it is: `agent 5230`. */
export const beatOwner = ({ agent }: Heartbeat): string =>
  agent === null ? 'no agent found' : `agent ${agent.pid}`;

/** `silent for 13m: task 688, phase 2, checking diagnostics, foo`: what a heartbeat tells. */
export const beatText = (beat: Heartbeat): string =>
  [TROUBLES[beat.state](beat), beatAbout(beat)].filter(Boolean).join(': ');
