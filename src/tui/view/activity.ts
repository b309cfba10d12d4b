import type { Heartbeat } from '../../model/heartbeat.ts';
import type { AgentSession, JudgedProcess } from '../../model/snapshot.ts';
import { beatText } from '../../words/heartbeat.ts';
import { type Room, sessionText } from '../../words/session.ts';
import { HEARTBEAT_TONES, SESSION_TONES } from '../../words/tones.ts';
import type { Tone } from '../look/theme.ts';
import type { Row } from './row.ts';

export interface Doing {
  readonly text: string;
  readonly tone: Tone;
}

export const beatTone = (beat: Heartbeat): Tone => HEARTBEAT_TONES[beat.state];

export const sessionTone = ({ doing }: AgentSession): Tone =>
  doing === null ? 'faint' : SESSION_TONES[doing];

const sessionRun = (session: AgentSession, room?: Room): Doing | null => {
  const text = sessionText(session, room);
  return text === '' ? null : { text, tone: sessionTone(session) };
};

/** `zsh` of `/usr/bin/zsh` and of the `-zsh` of a login shell. */
const basename = (word: string): string => word.slice(word.lastIndexOf('/') + 1).replace(/^-/, '');

/** The command without what the name column says already: the program, and the interpreter before it. */
const argumentsOf = (command: string, name: string): string => {
  if (command === `[${name}]`) return '';
  // The name may stop short of a version: `npm exec x` of `npm exec x@latest`.
  if (command.startsWith(name)) return command.slice(name.length).replace(/^\S*\s*/, '');
  const words = command.split(' ');
  const program = name.split(' ')[0]!;
  const at = words.slice(0, 3).findIndex(word => basename(word) === program);
  return at < 0 ? command : words.slice(at + 1).join(' ');
};

/** What is told of any process: the reason when it is not live, its heartbeat, where it works, its arguments. */
const told = (row: Row, p: JudgedProcess): Doing | null => {
  const why = row.inherits ? undefined : p.why[0];
  if (p.verdict === 'leak' && why) return { text: why, tone: 'reason' };
  if (p.verdict === 'suspect' && why) return { text: why, tone: 'suspect' };
  // A transcript says no more than that it is written to.
  const beat = row.beat ? beatText(row.beat) : '';
  if (row.beat && beat !== '') return { text: beat, tone: beatTone(row.beat) };
  return p.verdict === 'protected' && why ? { text: why, tone: 'faint' } : null;
};

/** What a process is doing, in one line; of an agent first which session it is and what that does now, within `room`. */
export const doing = (row: Row, room?: Room): Doing => {
  if (row.gone) return { text: row.process ? 'it has ended' : 'nothing is left of it', tone: 'faint' };
  const p = row.process;
  if (!p) return { text: row.group?.note ?? '', tone: 'faint' };
  const session = p.session ? sessionRun(p.session, room) : null;
  const more = told(row, p);
  if (session && more) {
    // Somebody's answer is wanted: that comes before what its files say.
    const tone = p.session?.doing === 'waiting' ? session.tone : more.tone;
    return { text: `${session.text}; ${more.text}`, tone };
  }
  if (session ?? more) return (session ?? more)!;
  const cwd = p.facts.details?.cwd;
  if ((p.kind === 'agent' || p.kind === 'lake') && cwd) return { text: cwd, tone: 'faint' };
  // The Bash tool's own words around the command would fill every row with the same.
  if (p.seen.role === 'bash-tool') return { text: cwd ?? '', tone: 'faint' };
  return { text: argumentsOf(p.command, p.name) || (p.kind === 'shell' ? '' : (cwd ?? '')), tone: 'faint' };
};
