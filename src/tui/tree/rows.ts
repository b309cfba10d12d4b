import { beatOnRow } from '../../judge/heartbeats/judge-files.ts';
import { type RememberedSession, sessionKey, wayBackName } from '../../model/asleep.ts';
import { subtreeOf } from '../../model/forest.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import {
  type Branch,
  branchesOf,
  childrenOf,
  type Group,
  groupBranches,
  isFoldedAt,
  isQuiet,
  quietGroup,
  runsIn,
  topsOf,
} from '../../model/levels.ts';
import { portsOf } from '../../model/process.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { Level } from '../../model/ui-settings.ts';
import { rowOptions, type ViewState } from '../state.ts';
import { comparing, exactly, matcher, type Row, type RowOptions } from './row-order.ts';

const NONE_ASLEEP: readonly RememberedSession[] = [];

/** Where sessions are looked at, those that can be brought back stand at the end. */
const asleepRows = (
  { takenAt }: Snapshot,
  asleep: readonly RememberedSession[],
  { level, grouping, filter }: RowOptions,
): readonly Row[] => {
  if (level !== 1 || grouping === 'flat') return [];
  const wanted = filter.toLowerCase().split(/\s+/);
  return asleep.flatMap((session): Row[] => {
    const group: Group = {
      key: `asleep:${sessionKey(session)}`,
      title: `${session.agent} ${wayBackName(session)}`,
      note: `${session.state}, enter wakes it`,
      tone: 'asleep',
      rank: 0,
      shown: 'row',
    };
    const text = `${group.title} ${group.note} ${session.id}`.toLowerCase();
    if (!wanted.every(word => text.includes(word))) return [];
    return [
      {
        ...groupRow(group, [], false, { level }),
        foldable: false,
        treeBytes: session.bytes,
        ageSeconds: (takenAt - session.at) / 1000,
        asleep: session,
      },
    ];
  });
};

/** The rows of the tree, made again only when something they are made from is different. */
export class RowList {
  #madeFrom: readonly unknown[] = [];
  #rows: readonly Row[] = [];

  of(snapshot: Snapshot, view: ViewState, asleep = NONE_ASLEEP): readonly Row[] {
    const options = rowOptions(view);
    const inputs = [snapshot, ...Object.values(options), asleep];
    if (inputs.some((input, i) => input !== this.#madeFrom[i])) {
      // What the user folds, filters or sorts away is not kept.
      const looked = inputs.every(
        (input, i) => i === 0 || i === inputs.length - 1 || input === this.#madeFrom[i],
      );
      const rows = [...treeRows(snapshot, options), ...asleepRows(snapshot, asleep, options)];
      this.#madeFrom = inputs;
      this.#rows = looked ? withSelected(view.selected, this.#rows, rows, snapshot) : rows;
    } else if (this.#rows.some(row => row.gone && row.key !== view.selected))
      this.#rows = this.#rows.filter(row => !row.gone);
    return this.#rows;
  }
}

/** What a branch becomes a row by. */
interface Hanging {
  /** Several: servers that share a row. */
  readonly branch: Branch | readonly Branch[];
  readonly trail: string;
  /** Of the rows below it. */
  readonly below: string;
  readonly parent: Branch | null;
}

interface Growing {
  readonly keep: Kept | null;
  readonly beats: ReadonlyMap<string, Heartbeat>;
  readonly options: RowOptions;
  readonly level: Level;
  readonly order: (a: Branch, b: Branch) => number;
}

/** Depth without a drawing: what is below a heading. */
const INDENT = 'H';

/** Quiet servers of a session share a row, unless something is looked for. */
const sharing = (
  branches: readonly Branch[],
  parent: Branch | null,
  { level, keep }: Growing,
): readonly Hanging['branch'][] => {
  if (level !== 2 || keep !== null || parent?.process.isSession !== true) return branches;
  const quiet = branches.filter(isQuiet);
  return quiet.length < 2 ? branches : [...branches.filter(branch => !isQuiet(branch)), quiet];
};

const hanging = (
  branches: readonly Branch[],
  above: string,
  parent: Branch | null,
  growing: Growing,
): Hanging[] =>
  sharing([...branches].sort(growing.order), parent, growing)
    .map((branch, i, all) => {
      const last = i === all.length - 1;
      return { branch, trail: above + (last ? 'L' : 'T'), below: above + (last ? ' ' : 'I'), parent };
    })
    .reverse();

/** Closed by the user, or by its level unless the user opened it; where something is looked for, what holds it is open. */
const isFolded = (key: string, byLevel: boolean, { options: { folded, opened }, keep }: Growing): boolean => {
  if (folded.has(key)) return true;
  if (!byLevel || opened === 'all' || opened?.has(key)) return false;
  return keep === null || keep.get(key) !== false;
};

/** A row for one process; the figures are of its subtree. */
const rowOf = (
  branch: Branch,
  { trail, parent }: Pick<Hanging, 'trail' | 'parent'>,
  children: readonly Branch[],
  folded: boolean,
  { keep, beats, level }: Growing,
): Row => {
  const { process } = branch;
  // Opened, the wrapper and what it runs have a row each.
  const runs = level === 3 || (children.length > 0 && !folded) ? branch : runsIn(branch);
  let chain = 1;
  for (let at = runs; at !== branch && at.parent !== null; at = at.parent) chain += 1;
  return {
    key: branch.key,
    process,
    runs: runs.process,
    group: null,
    trail,
    foldable: children.length > 0,
    folded,
    count: branch.count,
    hidden: folded ? branch.count - chain : 0,
    treeBytes: branch.bytes,
    cpu: level === 3 ? process.facts.cpu : branch.cpu,
    alarm: folded || parent === null ? branch.alarm : branch.ownAlarm,
    whole: level !== 3,
    zombies: folded ? branch.zombies : process.zombies,
    ports: folded ? branch.ports : portsOf(process.facts),
    ageSeconds: process.ageSeconds,
    roots: [],
    beat: beats.get(branch.key) ?? null,
    inherits: parent?.process.verdict === process.verdict,
    context: keep !== null && keep.get(branch.key) === false,
  };
};

/** Next to one another, with nothing drawn before them. */
const standing = (branches: readonly Branch[], trail: string, { order }: Growing): Hanging[] =>
  [...branches]
    .sort(order)
    .map(branch => ({ branch, trail, below: trail, parent: null }))
    .reverse();

const isBranch = (branch: Hanging['branch']): branch is Branch => !Array.isArray(branch);

/** The rows of these branches and of what is below them; not by recursion: a chain of thousands is deeper than the stack. */
const growRows = (tops: readonly Hanging[], growing: Growing, rows: Row[]): void => {
  const { keep, level } = growing;
  const pending = [...tops];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { branch, below, parent } = next;
    if (!isBranch(branch)) {
      const group = quietGroup(parent!, branch);
      const folded = isFolded(group.key, true, growing);
      rows.push({ ...groupRow(group, branch, folded, growing), trail: next.trail });
      if (!folded) pending.push(...hanging(branch, below, null, growing));
      continue;
    }
    const all = childrenOf(branch, level);
    const children = keep ? all.filter(c => keep.has(c.key)) : all;
    const folded = children.length > 0 && isFolded(branch.key, isFoldedAt(branch, level), growing);
    rows.push(rowOf(branch, next, children, folded, growing));
    if (!folded) pending.push(...hanging(children, below, branch, growing));
  }
};

/** A heading, or the one row that stands for what a dead session left. */
const groupRow = (
  group: Group,
  branches: readonly Branch[],
  folded: boolean,
  { level }: Pick<Growing, 'level'>,
): Row => {
  const sum = (figure: (branch: Branch) => number): number =>
    branches.reduce((total, branch) => total + figure(branch), 0);
  const count = sum(branch => branch.count);
  const isRow = group.shown === 'row';
  return {
    key: group.key,
    process: null,
    runs: null,
    group,
    trail: '',
    foldable: true,
    folded,
    count,
    hidden: folded ? count : 0,
    treeBytes: sum(branch => branch.bytes),
    cpu: isRow ? sum(branch => branch.cpu ?? 0) : null,
    alarm: null,
    whole: level !== 3,
    ports: isRow ? [...new Set(branches.flatMap(({ ports }) => ports))] : [],
    zombies: isRow ? sum(branch => branch.zombies) : 0,
    ageSeconds: isRow ? Math.max(...branches.map(({ process }) => process.ageSeconds ?? 0)) : null,
    roots: isRow ? branches.map(({ process }) => process) : [],
    beat: null,
    inherits: false,
    context: false,
  };
};

/** The snapshot as the rows of the tree, top to bottom. */
export const treeRows = (snapshot: Snapshot, options: RowOptions): readonly Row[] => {
  const roots = branchesOf(snapshot, options.all);
  const keep = kept(roots, options.filter);
  const beats = beatOnRow(snapshot.heartbeats);
  const { grouping = 'tmux', level = 3 } = options;
  const order = comparing(options.sort, options.reversed);
  const growing: Growing = { keep, beats, options, level, order };
  if (grouping === 'flat') return flatRows(roots, { ...growing, level: 3 });
  const tops = topsOf(roots, level, ({ key }) => keep?.get(key) === true);
  const wanted = keep ? tops.filter(top => keep.has(top.key)) : tops;
  const rows: Row[] = [];
  for (const { group, branches } of groupBranches(wanted, snapshot, grouping)) {
    // One row per session: no heading is worth a row.
    if (group.shown === 'none' || (group.shown === 'heading' && level === 1)) {
      growRows(standing(branches, '', growing), growing, rows);
      continue;
    }
    const byLevel = group.shown === 'row' && level < 3;
    const folded = isFolded(group.key, byLevel && !matchesInside(branches, group, growing), growing);
    rows.push(groupRow(group, branches, folded, growing));
    if (folded) continue;
    const below =
      group.shown === 'row' ? hanging(branches, '', null, growing) : standing(branches, INDENT, growing);
    growRows(below, growing, rows);
  }
  return rows;
};

/** Something in it is looked for, and not by what its one row says. */
const matchesInside = (
  branches: readonly Branch[],
  { title, note }: Group,
  { keep, options }: Growing,
): boolean => {
  const matches = keep === null ? null : matcher(options.filter);
  if (matches === null) return false;
  const [first] = branches;
  return first !== undefined && !matches(first.process, `${title} ${note}`);
};

/** Every process in one list, the exact order of what its column shows: the biggest is the first. */
const flatRows = (roots: readonly Branch[], growing: Growing): readonly Row[] => {
  const { keep, options } = growing;
  const all = [...roots];
  // The list grows while it is walked.
  for (const branch of all) all.push(...branch.children);
  return all
    .filter(branch => keep?.get(branch.key) !== false && (keep === null || keep.has(branch.key)))
    .sort(exactly(options.sort, options.reversed ?? false))
    .map(branch => ({
      ...rowOf(branch, { trail: '', parent: null }, [], false, growing),
      alarm: branch.ownAlarm,
      zombies: branch.process.zombies,
    }));
};

/** Keys of branches that match (true) or only hold a match (false). */
type Kept = ReadonlyMap<string, boolean>;

/** Null: everything. */
const kept = (roots: readonly Branch[], filter: string): Kept | null => {
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
  const rows = treeRows(snapshot, { ...options, folded: new Set(), opened: 'all' });
  const index = rows.findIndex(row => row.key === key);
  if (index < 0) return null;
  const above: string[] = [];
  for (let i = parentIndex(rows, index); i >= 0; i = parentIndex(rows, i)) above.push(rows[i]!.key);
  return above;
};

/** The first entry in view of a list with a cursor: the cursor stays in sight. */
export const windowTop = (cursor: number, count: number, rows: number): number =>
  Math.max(0, Math.min(cursor - Math.floor(rows / 2), count - rows));
