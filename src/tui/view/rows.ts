import { linkForest } from '../../model/forest.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import { keyOf } from '../../model/identity.ts';
import { isZombie, memoryOf } from '../../model/process.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../../model/snapshot.ts';
import type { Branch } from './branch.ts';
import { matcher } from './row-filter.ts';
import { type Group, groupOf } from './row-groups.ts';
import { comparing, type SortId } from './row-sort.ts';

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
}

export interface RowOptions {
  readonly folded: ReadonlySet<string>;
  readonly filter: string;
  readonly sort: SortId;
  readonly all: boolean;
}

/** A tmux server is the roof over its sessions, not a row among them; it is listed with all processes. */
const isRoof = (p: JudgedProcess): boolean => p.kind === 'tmux';

const shown = (p: JudgedProcess, all: boolean): boolean => all || (p.related && !isRoof(p));

const isAlive = ({ process }: Branch): boolean => !isZombie(process.facts);

const sum = (branch: Branch): void => {
  // A zombie is folded into the count on the parent that owes the wait.
  if (!branch.children.every(isAlive)) branch.children = branch.children.filter(isAlive);
  for (const child of branch.children) {
    sum(child);
    branch.bytes += child.bytes;
    branch.cpu += child.cpu;
    branch.count += child.count;
  }
};

const forest = (snapshot: Snapshot, all: boolean): Branch[] => {
  const branches: Branch[] = [];
  for (const process of snapshot.processes) {
    if (!shown(process, all)) continue;
    branches.push({
      key: keyOf(identityOf(process)),
      process,
      parent: null,
      children: [],
      bytes: memoryOf(process.facts),
      cpu: process.facts.cpu ?? 0,
      count: 1,
    });
  }
  linkForest(
    branches,
    ({ process }) => process.facts,
    // A tmux server or PID 1 holds what is grouped by session or by verdict.
    ({ process }) => !isRoof(process) && process.facts.pid !== 1,
  );
  const roots = branches.filter(({ parent }) => parent === null);
  for (const root of roots) sum(root);
  return roots;
};

const LOUDNESS = { critical: 0, warn: 1, unreadable: 2, fine: 3, leftover: 4 } satisfies Record<
  Heartbeat['state'],
  number
>;

/** An agent may have a progress file and a marker: its row tells the worst, and of equals the one that says most. */
const worstBeats = (all: readonly Heartbeat[]): ReadonlyMap<string, Heartbeat> => {
  const beats = new Map<string, Heartbeat>();
  for (const beat of all) {
    if (!beat.agent) continue;
    const key = keyOf(beat.agent);
    const known = beats.get(key);
    const louder = known ? LOUDNESS[beat.state] - LOUDNESS[known.state] : -1;
    if (louder < 0 || (louder === 0 && known?.operation === null)) beats.set(key, beat);
  }
  return beats;
};

/** Keys of branches that match or hold a match; null: everything. */
const kept = (roots: readonly Branch[], filter: string): Map<string, boolean> | null => {
  const matches = matcher(filter);
  if (!matches) return null;
  const keep = new Map<string, boolean>();
  const visit = (branch: Branch): boolean => {
    const self = matches(branch.process);
    let below = false;
    for (const child of branch.children) below = visit(child) || below;
    if (self || below) keep.set(branch.key, self);
    return self || below;
  };
  for (const root of roots) visit(root);
  return keep;
};

/** The snapshot as the rows of the tree, top to bottom. */
export const treeRows = (snapshot: Snapshot, options: RowOptions): readonly Row[] => {
  const roots = forest(snapshot, options.all);
  const keep = kept(roots, options.filter);
  const beats = worstBeats(snapshot.heartbeats);
  const order = comparing(options.sort);
  const groups = new Map<string, { group: Group; branches: Branch[] }>();
  for (const root of roots) {
    if (keep && !keep.has(root.key)) continue;
    const group = groupOf(root.process, snapshot);
    const entry = groups.get(group.key) ?? { group, branches: [] };
    entry.branches.push(root);
    groups.set(group.key, entry);
  }
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
  const ordered = [...groups.values()].sort(
    (a, b) => a.group.rank - b.group.rank || a.group.title.localeCompare(b.group.title),
  );
  for (const { group, branches } of ordered) {
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
