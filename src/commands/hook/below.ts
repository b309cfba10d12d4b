import { childrenByParent, lineUpFrom, withAllBelow } from '../../model/forest.ts';
import type { Descendant } from '../../model/hook.ts';
import type { Identity } from '../../model/identity.ts';
import { allKin, childrenAt, isRunning, type Kin, kinAt } from '../../observe/procfs/kin.ts';

/** What a session has started, as far as its hooks see it. */

/** Bounded, as everything that a session's file remembers. */
const MOST_BELOW = 128;

/** Everything below the agent in this table but ourselves and who started us; parents before children. */
const descendants = (agent: Identity, kin: ReadonlyMap<number, Kin>): readonly Descendant[] => {
  const top = kin.get(agent.pid);
  if (top?.start !== agent.start) return [];
  const own = lineUpFrom(kin.get(process.pid), up => (up.ppid === agent.pid ? null : kin.get(up.ppid)));
  const others = [...kin.values()].filter(one => one === top || (!own.has(one) && one.state !== 'Z'));
  const below = withAllBelow(
    [top],
    childrenByParent(others, place => place),
    ({ pid }) => pid,
  );
  return [...below]
    .filter(one => one !== top)
    .map(({ pid, start, ppid }) => ({ pid, start, parent: { pid: ppid, start: kin.get(ppid)!.start } }));
};

/** The agent and what the kernel names below it, without a look at anybody else. */
const kinBelow = (agent: Identity): ReadonlyMap<number, Kin> => {
  const found = new Map<number, Kin>();
  const pending = [agent.pid];
  for (let pid = pending.shift(); pid !== undefined && found.size <= MOST_BELOW; pid = pending.shift()) {
    const kin = found.has(pid) ? null : kinAt(pid);
    if (kin === null) continue;
    found.set(pid, kin);
    pending.push(...childrenAt(pid));
  }
  return found;
};

const united = (before: readonly Descendant[], now: readonly Descendant[]): readonly Descendant[] => {
  const known = new Set(now.map(({ pid }) => pid));
  return [...before.filter(one => !known.has(one.pid) && isRunning(one) === true), ...now];
};

/**
 * What was seen below the agent and still runs, with what is below it now. When a session ends, Claude ends its servers
 * before it calls the hook: what these leave is PID 1's by then, and only who looked earlier knows whose it was.
 */
export const belowAfter = (before: readonly Descendant[], agent: Identity | null): readonly Descendant[] =>
  agent === null ? before : united(before, descendants(agent, kinBelow(agent))).slice(-MOST_BELOW);

/** The same at the end, with a look at everybody. */
export const belowAtTheEnd = (before: readonly Descendant[], agent: Identity): readonly Descendant[] =>
  united(before, descendants(agent, allKin()));
