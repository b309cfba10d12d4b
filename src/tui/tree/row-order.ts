import type { RememberedSession } from '../../model/asleep.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import { type Alarm, type Branch, describe, type Group, type Grouping } from '../../model/levels.ts';
import { memoryOf, portsOf } from '../../model/process.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import type { Level } from '../../model/ui-settings.ts';

/** How a row hangs in the tree, one letter per level: `I` a line passes, blank none, `T` a branch, `L` the last one. */
export type Trail = string;

export interface Row {
  /** Of the process's identity, or of the group: survives refreshes. */
  readonly key: string;
  /** What the keys act on. */
  readonly process: JudgedProcess | null;
  /** What it is named for: of a chain of wrappers what that runs. */
  readonly runs: JudgedProcess | null;
  readonly group: Group | null;
  readonly trail: Trail;
  readonly foldable: boolean;
  readonly folded: boolean;
  /** Processes in this row's subtree, itself included. */
  readonly count: number;
  /** Processes that have no row of their own because this one is folded; the wrappers of a chain do not count. */
  readonly hidden: number;
  readonly treeBytes: number;
  /** Of the subtree where whole trees are looked at, else of the process. */
  readonly cpu: number | null;
  readonly alarm: Alarm | null;
  /** Its figures are of the whole subtree: not every process has a row. */
  readonly whole: boolean;
  readonly zombies: number;
  /** TCP ports that it, or anything folded into it, listens on. */
  readonly ports: readonly number[];
  /** Seconds since the oldest of what it stands for started. */
  readonly ageSeconds: number | null;
  /** The processes at the top of what it stands for, where it is not one itself. */
  readonly roots: readonly JudgedProcess[];
  readonly beat: Heartbeat | null;
  /** Its parent's row has the same verdict: the reason stands there, once. */
  readonly inherits: boolean;
  /** Shown only because something below it matches the filter. */
  readonly context: boolean;
  /** A session that sleeps or was lost, and can be brought back. */
  readonly asleep?: RememberedSession;
  /** It has ended, and stays only because it is selected. */
  readonly gone?: boolean;
}

export interface RowOptions {
  /** Closed and opened by the user; the rest is as its level has it. */
  readonly folded: ReadonlySet<string>;
  readonly opened?: ReadonlySet<string> | 'all';
  /** Default: every process. */
  readonly level?: Level;
  readonly filter: string;
  readonly sort: SortId;
  readonly all: boolean;
  /** What the rows are gathered by; default: tmux. */
  readonly grouping?: Grouping;
  /** The sort turned round. */
  readonly reversed?: boolean;
}

/** Orders of siblings, each by what its column shows: `memory` by the process's own, `tree` by that of its subtree. */
export const SORTS = ['start', 'memory', 'tree', 'cpu', 'newest', 'name', 'pid'] as const;
export type SortId = (typeof SORTS)[number];

type Order = (a: Branch, b: Branch) => number;

const byStart: Order = (a, b) =>
  (a.process.facts.born ?? 0) - (b.process.facts.born ?? 0) || a.process.facts.pid - b.process.facts.pid;

const ownBytes = ({ process }: Branch): number => memoryOf(process.facts);
const ownCpu = ({ process }: Branch): number => process.facts.cpu ?? 0;

/** CPU in steps of 5 %, so that rows do not change places at every refresh. */
const coarse = (cpu: number): number => Math.round(cpu / 5);

/** Memory in steps of about 6 %, for the same reason. */
const octave = (bytes: number): number => Math.round(Math.log2(bytes + 1) * 12);

const ORDERS = {
  start: byStart,
  memory: (a, b) => octave(ownBytes(b)) - octave(ownBytes(a)),
  tree: (a, b) => octave(b.bytes) - octave(a.bytes),
  cpu: (a, b) => coarse(ownCpu(b)) - coarse(ownCpu(a)),
  newest: (a, b) => byStart(b, a),
  name: (a, b) => a.process.name.localeCompare(b.process.name),
  pid: (a, b) => a.process.facts.pid - b.process.facts.pid,
} satisfies Record<SortId, Order>;

/** In a flat list the order is exact, even if rows change places often. */
const EXACT: Readonly<Partial<Record<SortId, Order>>> = {
  memory: (a, b) => ownBytes(b) - ownBytes(a),
  tree: (a, b) => b.bytes - a.bytes,
  cpu: (a, b) => ownCpu(b) - ownCpu(a),
};

const turned = (order: Order, reversed: boolean): Order =>
  reversed ? (a, b) => order(b, a) || byStart(a, b) : (a, b) => order(a, b) || byStart(a, b);

export const comparing = (sort: SortId, reversed = false): Order => turned(ORDERS[sort], reversed);

export const exactly = (sort: SortId, reversed: boolean): Order =>
  turned(EXACT[sort] ?? ORDERS[sort], reversed);

/** Words of the screen that a process does not say itself. */
const stateWords = ({ session }: JudgedProcess): string => {
  if (!session) return '';
  const hung = session.calls?.some(call => call.hung === true) ? 'hung' : '';
  const waits = session.doing === 'waiting' ? 'waiting waits for you' : '';
  return `${session.id ?? ''} ${session.name ?? ''} ${session.project ?? ''} ${session.doing ?? ''} ${hung} ${waits}`;
};

/** What a filter word is looked for in: all that a row shows, and where it is. */
const haystack = (p: JudgedProcess): string =>
  [
    p.name,
    p.kind,
    p.agent ?? '',
    p.verdict,
    p.protection === null ? '' : 'protected',
    p.zombies > 0 ? 'zombie' : '',
    p.tmux ? `tmux ${p.tmux.session} ${p.tmux.pane}` : '',
    p.facts.tty ?? '',
    portsOf(p.facts)
      .map(port => `:${port}`)
      .join(' '),
    p.facts.details?.cwd ?? '',
    p.owner?.sessionId ?? '',
    p.owner?.project ?? '',
    stateWords(p),
    p.why.join('; '),
    describe(p, { beat: null, inherits: false }).text,
    p.command,
  ]
    .join('\n')
    .toLowerCase();

type Matcher = (p: JudgedProcess, title?: string) => boolean;

/** A number is a pid, a port or the beginning of a session's id, from its first digit: reasons are full of others. */
const matchesNumber = (p: JudgedProcess, digits: string): boolean =>
  [p.facts.pid, ...portsOf(p.facts), p.session?.id, p.owner?.sessionId].some(
    one => one != null && String(one).startsWith(digits),
  );

/** A test for the words of the filter: every word must match. */
export const matcher = (filter: string): Matcher | null => {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return null;
  return (p, title = '') => {
    const text = `${haystack(p)}\n${title.toLowerCase()}`;
    return words.every(word => (/^\d+$/.test(word) ? matchesNumber(p, word) : text.includes(word)));
  };
};
