import { formatAge } from '../model/format.ts';
import type { Heartbeat } from '../model/heartbeat.ts';
import type { Row } from './rows.ts';
import type { Tone } from './theme.ts';

export interface Doing {
  readonly text: string;
  readonly tone: Tone;
}

const BEAT_TONES = {
  fine: 'good',
  warn: 'warn',
  critical: 'bad',
  unreadable: 'warn',
  leftover: 'faint',
} satisfies Record<Heartbeat['state'], Tone>;

export const beatTone = (beat: Heartbeat): Tone => BEAT_TONES[beat.state];

/** `task 688, phase 2, checking diagnostics, foo`: the parts a heartbeat tells. */
export const beatText = (beat: Heartbeat): string => {
  const parts = [
    beat.task === null ? '' : `task ${beat.task}`,
    beat.phase === null ? '' : `phase ${beat.phase}`,
    beat.operation?.replaceAll('_', ' ') ?? '',
    beat.proof ?? '',
  ];
  const told = parts.filter(Boolean).join(', ');
  const silent = beat.state === 'warn' || beat.state === 'critical';
  const age = silent ? `silent for ${formatAge(beat.ageSeconds)}` : '';
  return [told, age || (beat.state === 'fine' ? '' : beat.state)].filter(Boolean).join(', ');
};

/** The command without its program: the name column has that already. */
const argumentsOf = (command: string, name: string): string => {
  const space = command.indexOf(' ');
  if (space < 0) return '';
  const program = command.slice(0, space);
  const rest = command.slice(space + 1);
  return program.endsWith(name) || name.startsWith(program) ? rest : command;
};

/** What a process is doing, in one line: the reason when it is not live, its heartbeat, where it works, its arguments. */
export const doing = (row: Row): Doing => {
  const p = row.process;
  if (!p) return { text: row.group?.note ?? '', tone: 'faint' };
  const why = p.why[0];
  if (p.verdict === 'leak' && why) return { text: why, tone: 'leak' };
  if (p.verdict === 'suspect' && why) return { text: why, tone: 'suspect' };
  if (row.beat) return { text: beatText(row.beat), tone: beatTone(row.beat) };
  if (p.verdict === 'protected' && why) return { text: why, tone: 'faint' };
  const cwd = p.facts.details?.cwd;
  if ((p.kind === 'agent' || p.kind === 'lake') && cwd) return { text: cwd, tone: 'faint' };
  return { text: argumentsOf(p.command, p.name), tone: 'faint' };
};
