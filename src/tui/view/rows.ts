import type { Heartbeat } from '../../model/heartbeat.ts';
import type { JudgedProcess, Snapshot } from '../../model/snapshot.ts';
import type { Branch } from './branch.ts';
import { withSelected } from './keep-selected.ts';
import type { Row, RowOptions } from './row.ts';
import { forest, kept, worstBeats } from './row-branches.ts';
import { groupBranches } from './row-groups.ts';
import { comparing, exactly } from './row-sort.ts';
import { rowOptions, type ViewState } from './state.ts';

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
  const roots = forest(snapshot, options.all);
  const keep = kept(roots, options.filter);
  const beats = worstBeats(snapshot.heartbeats);
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
