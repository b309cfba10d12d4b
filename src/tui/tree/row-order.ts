import type { Heartbeat } from '../../model/heartbeat.ts';
import type { Branch, Group, Grouping } from '../../model/overview.ts';
import { memoryOf } from '../../model/process.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';

/** How a row hangs in the tree, one letter per level: `I` a line passes, blank none, `T` a branch, `L` the last one. */
export type Trail = string;

export interface Row {
  /** Of the process's identity, or of the group: survives refreshes. */
  readonly key: string;
  readonly process: JudgedProcess | null;
  readonly group: Group | null;
  readonly trail: Trail;
  readonly foldable: boolean;
  readonly folded: boolean;
  /** Processes in this row's subtree, itself included. */
  readonly count: number;
  readonly treeBytes: number;
  readonly beat: Heartbeat | null;
  /** Its parent's row has the same verdict: the reason stands there, once. */
  readonly inherits: boolean;
  /** Shown only because something below it matches the filter. */
  readonly context: boolean;
  /** It has ended, and stays only because it is selected. */
  readonly gone?: boolean;
}

export interface RowOptions {
  readonly folded: ReadonlySet<string>;
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

/** What a filter word is looked for in: name, kind, family, verdict, state, path, command, tmux place. */
const haystack = (p: JudgedProcess): string =>
  [
    p.name,
    p.kind,
    p.agent ?? '',
    p.verdict,
    p.protection === null ? '' : 'protected',
    p.zombies > 0 ? 'zombie' : '',
    p.tmux ? `${p.tmux.session} ${p.tmux.pane}` : '',
    p.facts.details?.cwd ?? '',
    p.command,
  ]
    .join('\n')
    .toLowerCase();

/** A test for the words of the filter: every word must match; a number matches the pid from its first digit. */
export const matcher = (filter: string): ((p: JudgedProcess) => boolean) | null => {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return null;
  return p => {
    const text = haystack(p);
    return words.every(word => text.includes(word) || String(p.facts.pid).startsWith(word));
  };
};
