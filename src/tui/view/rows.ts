import type { Heartbeat } from '../../model/heartbeat.ts';
import type { JudgedProcess, Snapshot } from '../../model/snapshot.ts';
import type { Branch } from './branch.ts';
import { forest, kept, worstBeats } from './row-branches.ts';
import { type Group, type Grouping, groupBranches } from './row-groups.ts';
import { comparing, exactly, type SortId } from './row-sort.ts';

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
  /** It is there no more, and stays only because it is selected. */
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

/** The snapshot as the rows of the tree, top to bottom. */
export const treeRows = (snapshot: Snapshot, options: RowOptions): readonly Row[] => {
  const roots = forest(snapshot, options.all);
  const keep = kept(roots, options.filter);
  const beats = worstBeats(snapshot.heartbeats);
  const { grouping = 'tmux' } = options;
  if (grouping === 'flat') return flatRows(roots, keep, beats, options);
  const order = comparing(options.sort, options.reversed);
  const rows: Row[] = [];
  const add = (branch: Branch, above: string, last: boolean, parent: JudgedProcess | null): void => {
    const children = keep ? branch.children.filter(c => keep.has(c.key)) : branch.children;
    const folded = children.length > 0 && options.folded.has(branch.key);
    rows.push({
      key: branch.key,
      process: branch.process,
      group: null,
      trail: above + (last ? 'L' : 'T'),
      foldable: children.length > 0,
      folded,
      count: branch.count,
      treeBytes: branch.bytes,
      beat: beats.get(branch.key) ?? null,
      inherits: parent?.verdict === branch.process.verdict,
      context: keep !== null && keep.get(branch.key) === false,
    });
    if (folded) return;
    const next = above + (last ? ' ' : 'I');
    const sorted = [...children].sort(order);
    sorted.forEach((child, i) => {
      add(child, next, i === sorted.length - 1, branch.process);
    });
  };
  const wanted = keep ? roots.filter(root => keep.has(root.key)) : roots;
  for (const { group, branches } of groupBranches(wanted, snapshot, grouping)) {
    const folded = options.folded.has(group.key);
    const count = branches.reduce((n, b) => n + b.count, 0);
    const treeBytes = branches.reduce((n, b) => n + b.bytes, 0);
    rows.push({
      key: group.key,
      process: null,
      group,
      trail: '',
      foldable: true,
      folded,
      count,
      treeBytes,
      beat: null,
      inherits: false,
      context: false,
    });
    if (folded) continue;
    const sorted = [...branches].sort(order);
    sorted.forEach((branch, i) => {
      add(branch, '', i === sorted.length - 1, null);
    });
  }
  return rows;
};

/** Every process in one list, the exact order of what its column shows: the biggest is the first. */
const flatRows = (
  roots: readonly Branch[],
  keep: ReadonlyMap<string, boolean> | null,
  beats: ReadonlyMap<string, Heartbeat>,
  { sort, reversed = false }: RowOptions,
): readonly Row[] => {
  const all = [...roots];
  // The list grows while it is walked.
  for (const branch of all) all.push(...branch.children);
  return all
    .filter(branch => keep?.get(branch.key) !== false && (keep === null || keep.has(branch.key)))
    .sort(exactly(sort, reversed))
    .map(branch => ({
      key: branch.key,
      process: branch.process,
      group: null,
      trail: '',
      foldable: false,
      folded: false,
      count: branch.count,
      treeBytes: branch.bytes,
      beat: beats.get(branch.key) ?? null,
      inherits: false,
      context: false,
    }));
};
