import { isZombie } from '../../model/process.ts';
import { type Run, settle, stopReason, type Tracked } from './run.ts';
import { noteEnd, presencesOf, settleDead } from './watch.ts';

/** A parent at work reaps within milliseconds; one that has not after this long holds a zombie. */
const REAP_MS = 500;

/** Gives every identity that has none yet its outcome, from a last look at it. */
export const concludeAll = async (run: Run): Promise<void> => {
  await letParentsReap(run);
  const open = [...run.tracked.values()].filter(t => t.outcome === null);
  const presences = await presencesOf(
    run.system,
    open.map(t => t.step.pid),
  );
  for (const t of open) {
    const presence = presences.get(t.step.pid) ?? { status: 'gone' };
    if (presence.status === 'present' && presence.identity.start === t.step.start) {
      if (isZombie(presence)) settleZombie(run, t, presence.ppid);
      else settleAlive(run, t, presence.state);
    } else if (presence.status === 'unreadable') settleAlive(run, t, t.state);
    else noteEnd(run, t, presence);
  }
};

const letParentsReap = async (run: Run): Promise<void> => {
  const until = run.clock.now() + REAP_MS;
  for (let delay = 5; ; delay *= 2) {
    const held = [...run.tracked.values()].filter(t => t.outcome === null && t.heldBy !== null);
    const presences = await presencesOf(
      run.system,
      held.map(t => t.step.pid),
    );
    for (const t of held) {
      const presence = presences.get(t.step.pid) ?? { status: 'gone' };
      if (presence.status === 'present' && presence.identity.start === t.step.start) t.heldBy = presence.ppid;
      else if (presence.status !== 'unreadable') settleDead(run, t);
    }
    const awaited = held.some(t => t.outcome === null && !isReaper(run, t, t.heldBy));
    const left = Math.min(until, run.deadlineAt) - run.clock.now();
    if (!awaited || left <= 0 || stopReason(run) !== null) return;
    await run.clock.wait(Math.min(delay, left), run.abort);
  }
};

/** Orphan roots reap late under load, but they reap: what they hold has ended. */
const isReaper = (run: Run, t: Tracked, ppid: number | null): boolean => {
  if (ppid === null || ppid <= 1) return true;
  // Handed over when its parent ended: whoever takes orphans in is there to reap them.
  if (ppid !== t.facts.ppid) return true;
  return run.before.byPid.get(ppid)?.adopts === true;
};

const settleZombie = (run: Run, t: Tracked, ppid: number | null): void => {
  if (isReaper(run, t, ppid)) {
    settleDead(run, t);
    return;
  }
  const parent = run.before.byPid.get(ppid ?? 0);
  settle(run, t, 'zombie', `it ended, and ${ppid} ${parent?.name ?? 'its parent'} has not reaped it`);
};

const settleAlive = (run: Run, t: Tracked, state: string): void => {
  const stopped = stopReason(run);
  if (t.sent === null)
    settle(run, t, 'refused', `nothing was sent: ${stopped ?? 'the run ended before its turn'}`);
  else if (stopped !== null && t.sent !== 'SIGKILL')
    settle(run, t, 'survived', `it got ${t.sent} and still runs: ${stopped}`);
  else if (state === 'D')
    settle(
      run,
      t,
      'survived',
      `it got ${t.sent} but sits in uninterruptible I/O (state D): it ends when that returns`,
    );
  else settle(run, t, 'survived', `it still runs after ${t.sent} (state ${state})`);
};
