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

const plus = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : a + b);

/** Memory and CPU of a process and all below it, moment by moment: samples of one refresh share their time. */
export const subtreeHistory = (
  root: JudgedProcess,
  { snapshot, history, course }: Pick<Screen, 'snapshot' | 'history' | 'course'>,
): readonly MemoryPoint[] => {
  const whole = course(keyOf(identityOf(root)));
  if (whole.length > 1) return whole;
  const own = history(keyOf(identityOf(root)));
  const members = subtreeOf(root, snapshot);
  if (members.length === 1 || members.length > MEMBER_LIMIT) return own;
  const sums = new Map<number, MemoryPoint>();
  for (const member of members)
    for (const { at, bytes, cpu } of history(keyOf(identityOf(member)))) {
      const known = sums.get(at) ?? { at, bytes: 0, cpu: null };
      sums.set(at, { at, bytes: known.bytes + bytes, cpu: plus(known.cpu, cpu) });
    }
  return [...sums.values()].sort((a, b) => a.at - b.at);
};
