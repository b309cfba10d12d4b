import { childrenByParent, withAllBelow } from '../../model/forest.ts';
import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import { allKin, isRunning, presenceAt } from '../../observe/procfs/kin.ts';
import { REAL_CLOCK } from '../clock.ts';
import { type Signalled, signalIdentity } from '../signal/signal-identity.ts';

const GRACE_MS = 2000;
const POLL_MS = 50;
/** A tree that outruns as many rounds of KILL is left to the lock, which stays held while it runs. */
const KILL_ROUNDS = 40;

/** All that a signal to what we started ourselves needs of a system. */
export const OWN_CHILDREN: Signalled = { readOnly: null, presence: presenceAt };

/** Everything below these now, themselves included. */
export const treeBelow = (roots: Iterable<Identity>): readonly Identity[] => {
  const kin = allKin();
  const tops = [...roots].flatMap(({ pid, start }) => {
    const found = kin.get(pid);
    return found?.start === start ? [found] : [];
  });
  const children = childrenByParent(kin.values(), place => place);
  return [...withAllBelow(tops, children, ({ pid }) => pid)].map(({ pid, start }) => ({ pid, start }));
};

/**
 * Ends trees that we started ourselves, whole: TERM, a little time, KILL, until nothing of them runs. What was once
 * seen in one stays in it, also after its parent ended; `others` finds what left it before. True: nothing is left.
 */
export const endTree = async (
  roots: readonly Identity[],
  others: () => readonly Identity[] = () => [],
): Promise<boolean> => {
  const known = new Map(roots.map(root => [keyOf(root), root]));
  const look = (): Identity[] => {
    for (const member of [...treeBelow(known.values()), ...others()]) known.set(keyOf(member), member);
    return [...known.values()].filter(member => isRunning(member) === true);
  };
  const told = new Set<IdentityKey>();
  const until = REAL_CLOCK.now() + GRACE_MS;
  for (let left = look(); left.length > 0 && REAL_CLOCK.now() < until; left = look()) {
    for (const member of left) {
      if (told.has(keyOf(member))) continue;
      told.add(keyOf(member));
      await signalIdentity(OWN_CHILDREN, member, 'SIGTERM');
    }
    await REAL_CLOCK.wait(POLL_MS);
  }
  for (let round = 0; round < KILL_ROUNDS; round += 1) {
    const left = look();
    if (left.length === 0) return true;
    for (const member of left) await signalIdentity(OWN_CHILDREN, member, 'SIGKILL');
    await REAL_CLOCK.wait(POLL_MS);
  }
  return look().length === 0;
};
