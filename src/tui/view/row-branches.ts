import { linkForest, subtreeOf } from '../../model/forest.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import { keyOf } from '../../model/identity.ts';
import { isZombie, memoryOf } from '../../model/process.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../../model/snapshot.ts';
import type { Branch } from './branch.ts';
import { matcher } from './row-filter.ts';

/** A tmux server is the roof over its sessions, not a row among them; it is listed with all processes. */
const isRoof = (p: JudgedProcess): boolean => p.kind === 'tmux';

const shown = (p: JudgedProcess, all: boolean): boolean => all || (p.related && !isRoof(p));

const isAlive = ({ process }: Branch): boolean => !isZombie(process.facts);

const sum = (root: Branch): void => {
  const parentsFirst: Branch[] = [];
  for (const branch of subtreeOf(root)) {
    // A zombie is folded into the count on the parent that owes the wait.
    if (!branch.children.every(isAlive)) branch.children = branch.children.filter(isAlive);
    parentsFirst.push(branch);
  }
  for (const branch of parentsFirst.reverse())
    for (const child of branch.children) {
      branch.bytes += child.bytes;
      branch.cpu += child.cpu;
      branch.count += child.count;
    }
};

export const forest = (snapshot: Snapshot, all: boolean): Branch[] => {
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
export const worstBeats = (all: readonly Heartbeat[]): ReadonlyMap<string, Heartbeat> => {
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
export const kept = (roots: readonly Branch[], filter: string): Map<string, boolean> | null => {
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
