import type { MemoryPoint } from '../../live/live.ts';
import { childrenByParent, withAllBelow } from '../../model/forest.ts';
import { keyOf } from '../../model/identity.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import type { Screen } from './screen.ts';

/** Below this many members a plot of the whole tree is worth the walk over their histories. */
const MEMBER_LIMIT = 200;

const plus = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : a + b);

/** Memory and CPU of a process and all below it, moment by moment: samples of one refresh share their time. */
export const subtreeHistory = (
  root: JudgedProcess,
  { snapshot, history, course }: Pick<Screen, 'snapshot' | 'history' | 'course'>,
): readonly MemoryPoint[] => {
  const whole = course(keyOf(identityOf(root)));
  if (whole.length > 1) return whole;
  const own = history(keyOf(identityOf(root)));
  const members = withAllBelow(
    [root],
    childrenByParent(snapshot.processes, p => p.facts),
    p => p.facts.pid,
  );
  if (members.size === 1 || members.size > MEMBER_LIMIT) return own;
  const sums = new Map<number, MemoryPoint>();
  for (const member of members)
    for (const { at, bytes, cpu } of history(keyOf(identityOf(member)))) {
      const known = sums.get(at) ?? { at, bytes: 0, cpu: null };
      sums.set(at, { at, bytes: known.bytes + bytes, cpu: plus(known.cpu, cpu) });
    }
  return [...sums.values()].sort((a, b) => a.at - b.at);
};
