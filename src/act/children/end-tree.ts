import { childrenByParent, withAllBelow } from '../../model/forest.ts';
import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import { allKin, isRunning } from '../../observe/procfs/kin.ts';
import { procfsSystem } from '../../observe/procfs/system.ts';
import { REAL_CLOCK } from '../clock.ts';
import { signalIdentity } from '../signal/signal-identity.ts';

const GRACE_MS = 2000;
const POLL_MS = 50;
/** A tree that outruns as many rounds of KILL is left to the lock, which stays held while it runs. */
const KILL_ROUNDS = 40;

/** Everything below these now, themselves included. */
const members = (roots: ReadonlyMap<IdentityKey, Identity>): readonly Identity[] => {
  const kin = allKin();
  const tops = [...roots.values()].flatMap(({ pid, start }) => {
    const found = kin.get(pid);
    return found?.start === start ? [found] : [];
  });
  const children = childrenByParent(kin.values(), place => place);
  return [...withAllBelow(tops, children, ({ pid }) => pid)];
};

/**
 * Ends a tree that we started ourselves, whole: TERM, a little time, KILL, until nothing of it runs. What was once
 * seen in it stays in it, also after its parent ended. True: nothing is left.
 */
export const endTree = async (root: Identity): Promise<boolean> => {
  const system = procfsSystem();
  const known = new Map([[keyOf(root), root]]);
  const look = (): Identity[] => {
    for (const { pid, start } of members(known)) known.set(keyOf({ pid, start }), { pid, start });
    return [...known.values()].filter(member => isRunning(member) === true);
  };
  const told = new Set<IdentityKey>();
  const until = REAL_CLOCK.now() + GRACE_MS;
  for (let left = look(); left.length > 0 && REAL_CLOCK.now() < until; left = look()) {
    for (const member of left) {
      if (told.has(keyOf(member))) continue;
      told.add(keyOf(member));
      await signalIdentity(system, member, 'SIGTERM');
    }
    await REAL_CLOCK.wait(POLL_MS);
  }
  for (let round = 0; round < KILL_ROUNDS; round += 1) {
    const left = look();
    if (left.length === 0) return true;
    for (const member of left) await signalIdentity(system, member, 'SIGKILL');
    await REAL_CLOCK.wait(POLL_MS);
  }
  return look().length === 0;
};
