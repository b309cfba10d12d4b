import type { Identity } from '../model/identity.ts';
import type { AgentSession, Totals } from '../model/snapshot.ts';
import { cells, cut, inStyle, visible } from '../model/text.ts';
import { formatAge, formatBytes, plural } from '../model/units.ts';

/** An agent as a status bar needs it. */
export interface LineAgent extends Identity {
  readonly name: string;
  readonly session: AgentSession | null;
  /** Memory of it and everything below it. Absent: written by an earlier version. */
  readonly bytes?: number | undefined;
  /** Shells that it has in the background; null or absent: not known. */
  readonly shells?: number | null | undefined;
}

/** What a status bar shows of a moment. */
export interface LineFacts {
  readonly totals: Pick<Totals, 'leaks' | 'reclaimable'>;
  /** Heartbeats that are late. */
  readonly stale: number;
  /** Sessions and calls that hang. */
  readonly hung: number;
  readonly agents: readonly LineAgent[];
}

export type LineStyle = 'tmux' | 'claude';

export interface LineOptions {
  /** The session that asks: its own tree comes first, and that it waits is left out. */
  readonly own: string | null;
  /** Whose bar it is for. */
  readonly style: LineStyle;
  readonly color: boolean;
  /** Cells that there are; null: not known. */
  readonly width: number | null;
  /** Say `ok` when all is calm, instead of nothing. */
  readonly always: boolean;
}

/** tmux reads what a command prints as a format: `#[…]` would be colours, `#{…}` a variable. */
const forBar = (name: string, style: LineStyle): string =>
  style === 'tmux' ? name.replaceAll('#', '##') : name;

const MOST_WAITING = 2;
const MOST_NAME = 24;

type Tone = 'plain' | 'good' | 'warn' | 'bad';
type Part = readonly [text: string, tone: Tone];

const ANSI: Readonly<Record<Tone, string>> = { plain: '', good: '32', warn: '33', bad: '1;31' };
const TMUX: Readonly<Record<Tone, string>> = {
  plain: '',
  good: '#[fg=green]',
  warn: '#[fg=yellow]',
  bad: '#[fg=red]',
};

const painted = ([text, tone]: Part, { style, color }: LineOptions): string => {
  const safe = forBar(text, style);
  if (!color || tone === 'plain') return safe;
  return style === 'tmux' ? `${TMUX[tone]}${safe}#[default]` : inStyle(safe, ANSI[tone]);
};

const waitingParts = ({ agents }: LineFacts, own: string | null): readonly Part[] => {
  const waiting = agents
    .filter(({ session }) => session?.doing === 'waiting' && (own === null || session.id !== own))
    .sort((a, b) => (b.session?.seconds ?? 0) - (a.session?.seconds ?? 0));
  const named = waiting.slice(0, MOST_WAITING).map(({ name, session }): Part => {
    const who = visible(session?.project ?? name).slice(0, MOST_NAME);
    return [`${who} waits${session?.seconds == null ? '' : ` ${formatAge(session.seconds)}`}`, 'warn'];
  });
  const others = waiting.length - named.length;
  return others === 0 ? named : [...named, [`${others} more wait`, 'warn']];
};

const ownPart = ({ bytes, shells }: LineAgent): Part => {
  const behind = shells == null || shells === 0 ? '' : `, ${plural(shells, 'shell')}`;
  return [`mine ${bytes === undefined ? '?' : formatBytes(bytes)}${behind}`, 'plain'];
};

const SEPARATOR = ' | ';

/** As many parts as fit, the first ones first; the first is cut if even that is too long. */
const fitting = (parts: readonly Part[], width: number | null): readonly Part[] => {
  if (width === null) return parts;
  const fits: Part[] = [];
  let used = -SEPARATOR.length;
  for (const part of parts) {
    used += SEPARATOR.length + cells(part[0]);
    if (used > width) break;
    fits.push(part);
  }
  return fits.length === 0 ? parts.slice(0, 1).map(([text, tone]) => [cut(text, width), tone]) : fits;
};

/** One line for a status bar: the asking session's own tree, then who waits, hangs and leaks. Empty: all is calm. */
export const statusLine = (facts: LineFacts, options: LineOptions): string => {
  const { totals, stale, hung, agents } = facts;
  const own = options.own === null ? undefined : agents.find(({ session }) => session?.id === options.own);
  const news: readonly Part[] = [
    ...waitingParts(facts, options.own),
    ...(hung === 0 ? [] : [[`${hung} hung`, 'bad'] as const]),
    ...(totals.leaks === 0
      ? []
      : [[`${plural(totals.leaks, 'leak')} ${formatBytes(totals.reclaimable)}`, 'bad'] as const]),
    ...(stale === 0 ? [] : [[`${stale} stale`, 'warn'] as const]),
  ];
  const isCalm = news.length === 0 && (own?.shells ?? 0) === 0;
  if (isCalm && !options.always) return '';
  const parts: readonly Part[] = [
    ...(own === undefined ? [] : [ownPart(own)]),
    ...(isCalm ? [['ok', 'good'] as const] : news),
  ];
  return fitting(parts, options.width)
    .map(part => painted(part, options))
    .join(SEPARATOR);
};
