import type { Heartbeat } from '../../model/heartbeat.ts';
import type { AgentSession } from '../../model/snapshot.ts';
import { beatText } from '../../words/heartbeat.ts';
import { sessionDoing, sessionName } from '../../words/session.ts';
import { HEARTBEAT_TONES, SESSION_TONES } from '../../words/tones.ts';
import type { Tone } from '../look/theme.ts';
import type { Row } from './rows.ts';

export interface Doing {
  readonly text: string;
  readonly tone: Tone;
}

export const beatTone = (beat: Heartbeat): Tone => HEARTBEAT_TONES[beat.state];

export const sessionTone = ({ doing }: AgentSession): Tone =>
  doing === null ? 'faint' : SESSION_TONES[doing];

/** `proofs “fix the lemma”: waits for you: permission prompt 12m`; null when neither is known. */
const sessionText = (session: AgentSession): Doing | null => {
  const text = [sessionName(session), sessionDoing(session)].filter(Boolean).join(': ');
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

/** What a process is doing, in one line: the reason when it is not live, its heartbeat, where it works, its arguments. */
export const doing = (row: Row): Doing => {
  const p = row.process;
  if (!p) return { text: row.group?.note ?? '', tone: 'faint' };
  const why = row.inherits ? undefined : p.why[0];
  if (p.verdict === 'leak' && why) return { text: why, tone: 'reason' };
  if (p.verdict === 'suspect' && why) return { text: why, tone: 'suspect' };
  const told = p.session ? sessionText(p.session) : null;
  // Somebody's answer is wanted: that comes before what its files say.
  if (told && p.session?.doing === 'waiting') return told;
  if (row.beat) return { text: beatText(row.beat), tone: beatTone(row.beat) };
  if (p.verdict === 'protected' && why) return { text: why, tone: 'faint' };
  if (told) return told;
  const cwd = p.facts.details?.cwd;
  if ((p.kind === 'agent' || p.kind === 'lake') && cwd) return { text: cwd, tone: 'faint' };
  // The Bash tool's own words around the command would fill every row with the same.
  if (p.seen.role === 'bash-tool') return { text: cwd ?? '', tone: 'faint' };
  return { text: argumentsOf(p.command, p.name) || (p.kind === 'shell' ? '' : (cwd ?? '')), tone: 'faint' };
};
