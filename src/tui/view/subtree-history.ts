import type { MemoryPoint } from '../../live/live.ts';
import { keyOf } from '../../model/identity.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../../model/snapshot.ts';
import type { Screen } from './screen.ts';

/** Below this many members a plot of the whole tree is worth the walk over their histories. */
const MEMBER_LIMIT = 200;

export const subtreeOf = (root: JudgedProcess, snapshot: Snapshot): readonly JudgedProcess[] => {
  const children = new Map<number, JudgedProcess[]>();
  for (const p of snapshot.processes) {
    const siblings = children.get(p.facts.ppid ?? -1);
    if (siblings) siblings.push(p);
    else children.set(p.facts.ppid ?? -1, [p]);
  }
  const members = [root];
  // The list grows while it is walked: breadth first.
  for (const member of members)
    for (const child of children.get(member.facts.pid) ?? [])
      if (!members.includes(child)) members.push(child);
  return members;
};

/** Memory of a process and all below it, moment by moment: samples of one refresh share their time. */
export const subtreeHistory = (
  root: JudgedProcess,
  { snapshot, history }: Pick<Screen, 'snapshot' | 'history'>,
): readonly MemoryPoint[] => {
  const own = history(keyOf(identityOf(root)));
  const members = subtreeOf(root, snapshot);
  if (members.length === 1 || members.length > MEMBER_LIMIT) return own;
  const sums = new Map<number, number>();
  for (const member of members)
    for (const { at, bytes } of history(keyOf(identityOf(member)))) sums.set(at, (sums.get(at) ?? 0) + bytes);
  return [...sums.entries()].sort(([a], [b]) => a - b).map(([at, bytes]) => ({ at, bytes, cpu: null }));
};
