import { beatOnRow } from '../../judge/heartbeats/judge-files.ts';
import { subtreeOf } from '../../model/forest.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import { type Branch, branchesOf, groupBranches } from '../../model/overview.ts';
import type { JudgedProcess, Snapshot } from '../../model/snapshot.ts';
import { rowOptions, type ViewState } from '../state.ts';
import { comparing, exactly, matcher, type Row, type RowOptions } from './row-order.ts';

/** The rows of the tree, made again only when something they are made from is different. */
export class RowList {
  #madeFrom: readonly unknown[] = [];
  #rows: readonly Row[] = [];

  of(snapshot: Snapshot, view: ViewState): readonly Row[] {
    const options = rowOptions(view);
    const inputs = [snapshot, ...Object.values(options)];
    if (inputs.some((input, i) => input !== this.#madeFrom[i])) {
      // What the user folds, filters or sorts away is not kept.
      const looked = inputs.every((input, i) => i === 0 || input === this.#madeFrom[i]);
      const rows = treeRows(snapshot, options);
      this.#madeFrom = inputs;
      this.#rows = looked ? withSelected(view.selected, this.#rows, rows, snapshot) : rows;
    } else if (this.#rows.some(row => row.gone && row.key !== view.selected))
      this.#rows = this.#rows.filter(row => !row.gone);
    return this.#rows;
  }
}

/** What a branch becomes a row by. */
interface Hanging {
  readonly branch: Branch;
  readonly above: string;
  readonly last: boolean;
  readonly parent: JudgedProcess | null;
}

interface Growing {
  readonly keep: ReadonlyMap<string, boolean> | null;
  readonly beats: ReadonlyMap<string, Heartbeat>;
  readonly options: RowOptions;
  readonly order: (a: Branch, b: Branch) => number;
}

const hanging = (
  branches: readonly Branch[],
  above: string,
  parent: JudgedProcess | null,
  { order }: Growing,
): Hanging[] =>
  [...branches]
    .sort(order)
    .map((branch, i) => ({ branch, above, last: i === branches.length - 1, parent }))
    .reverse();

/** The rows of these branches and of what is below them; not by recursion: a chain of thousands is deeper than the stack. */
const growRows = (branches: readonly Branch[], growing: Growing, rows: Row[]): void => {
  const { keep, beats, options } = growing;
  const pending = hanging(branches, '', null, growing);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { branch, above, last, parent } = next;
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
    if (!folded) pending.push(...hanging(children, above + (last ? ' ' : 'I'), branch.process, growing));
  }
};

/** The snapshot as the rows of the tree, top to bottom. */
export const treeRows = (snapshot: Snapshot, options: RowOptions): readonly Row[] => {
  const roots = branchesOf(snapshot, options.all);
  const keep = kept(roots, options.filter);
  const beats = beatOnRow(snapshot.heartbeats);
  const { grouping = 'tmux' } = options;
  if (grouping === 'flat') return flatRows(roots, keep, beats, options);
  const growing = { keep, beats, options, order: comparing(options.sort, options.reversed) };
  const rows: Row[] = [];
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
    if (!folded) growRows(branches, growing, rows);
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

/** Keys of branches that match or hold a match; null: everything. */
const kept = (roots: readonly Branch[], filter: string): Map<string, boolean> | null => {
  const matches = matcher(filter);
  if (!matches) return null;
  const keep = new Map<string, boolean>();
  // Backwards, so that every child is known before its parent.
  for (const root of roots)
    for (const branch of [...subtreeOf(root)].reverse()) {
      const self = matches(branch.process);
      if (self || branch.children.some(({ key }) => keep.has(key))) keep.set(branch.key, self);
    }
  return keep;
};

/**
 * The rows of a new sample, with the selected one still among them: what ended stays where it was, as ended, until the
 * user moves. A key pressed at that moment must not act on whatever took its place.
 */
export const withSelected = (
  selected: string | null,
  before: readonly Row[],
  now: readonly Row[],
  { processes }: Snapshot,
): readonly Row[] => {
  const at = before.findIndex(row => row.key === selected);
  if (at < 0 || now.some(row => row.key === selected)) return now;
  const row = before[at]!;
  const still = row.process && processes.find(p => keyOf(p.facts) === selected);
  const places = new Map(now.map((one, i) => [one.key, i]));
  const above = before.slice(0, at).findLast(one => places.has(one.key));
  const place = above === undefined ? 0 : places.get(above.key)! + 1;
  const stays = { ...row, foldable: false, folded: false };
  // What is there and matches no filter any more is shown like the rows around a match.
  const kept: Row = still ? { ...stays, process: still, context: true } : { ...stays, gone: true };
  return [...now.slice(0, place), kept, ...now.slice(place)];
};

export interface Placement {
  readonly selected: string | null;
  readonly index: number;
  readonly top: number;
}

/** Keeps the selection on its row, or on the row that took its place, and in view. */
export const place = (
  view: Pick<ViewState, 'selected' | 'selectedIndex' | 'top'>,
  rows: readonly Row[],
  height: number,
): Placement => {
  if (rows.length === 0) return { selected: view.selected, index: 0, top: 0 };
  const there = rows[view.selectedIndex]?.key === view.selected;
  const found = there ? view.selectedIndex : rows.findIndex(row => row.key === view.selected);
  const index = found >= 0 ? found : Math.min(view.selectedIndex, rows.length - 1);
  if (height < 1) return { selected: rows[index]!.key, index, top: view.top };
  const lowest = Math.max(0, rows.length - height);
  const top = Math.min(lowest, Math.max(index - height + 1, Math.min(view.top, index)));
  return { selected: rows[index]!.key, index, top };
};

/** Index of the row this one hangs below; -1 for a heading. */
export const parentIndex = (rows: readonly Row[], index: number): number => {
  const depth = rows[index]?.trail.length ?? 0;
  for (let i = index - 1; i >= 0; i -= 1) if (rows[i]!.trail.length < depth) return i;
  return -1;
};

/** Keys to unfold so that the row of this process is shown; null when no row of the snapshot is it. */
export const foldsAbove = (
  snapshot: Snapshot,
  key: IdentityKey,
  options: RowOptions,
): readonly string[] | null => {
  const rows = treeRows(snapshot, { ...options, folded: new Set() });
  const index = rows.findIndex(row => row.key === key);
  if (index < 0) return null;
  const above: string[] = [];
  for (let i = parentIndex(rows, index); i >= 0; i = parentIndex(rows, i)) above.push(rows[i]!.key);
  return above;
};

/** The first entry in view of a list with a cursor: the cursor stays in sight. */
export const windowTop = (cursor: number, count: number, rows: number): number =>
  Math.max(0, Math.min(cursor - Math.floor(rows / 2), count - rows));
