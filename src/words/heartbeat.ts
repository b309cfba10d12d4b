import { formatAge } from '../model/format.ts';
import type { Heartbeat } from '../model/heartbeat.ts';

const silent = (beat: Heartbeat): string => `silent for ${formatAge(beat.ageSeconds)}`;

/** Said first: what is wrong must not be cut off at the edge of a column. */
const TROUBLES = {
  fine: () => '',
  warn: silent,
  critical: silent,
  unreadable: beat => beat.reason ?? 'unreadable',
  leftover: beat => beat.reason ?? 'left over',
} satisfies Record<Heartbeat['state'], (beat: Heartbeat) => string>;

/** `task 688, phase 2, checking diagnostics, foo`. */
const aboutText = ({ task, phase, operation, proof }: Heartbeat): string =>
  [
    task === null ? '' : `task ${task}`,
    phase === null ? '' : `phase ${phase}`,
    operation?.replaceAll('_', ' ') ?? '',
    proof ?? '',
  ]
    .filter(Boolean)
    .join(', ');

/** `silent for 13m: task 688, phase 2, checking diagnostics, foo`: what a heartbeat tells. */
export const beatText = (beat: Heartbeat): string =>
  [TROUBLES[beat.state](beat), aboutText(beat)].filter(Boolean).join(': ');
