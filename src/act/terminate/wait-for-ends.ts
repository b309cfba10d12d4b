import { keyOf } from '../../model/identity.ts';
import type { Backend, Sample } from '../../model/observation.ts';
import { isZombie } from '../../model/process.ts';
import type { Presence, System } from '../../observe/system.ts';
import { noteLinks } from './links.ts';
import { running, settle, stopReason, type TerminateRun, type Tracked } from './tracked.ts';

/** Polls start this close together, so that quick ends are quick, and double up to the limit. */
const FIRST_POLL_MS = 5;
const LAST_POLL_MS = 1280;

/** Each question to these is a child process. */
const ASKS_PS: ReadonlySet<Backend> = new Set(['darwin', 'portable']);

/** What is at these pids now. One `ps` for all where every presence would be a child process of its own. */
export const presencesOf = async (
  system: System,
  pids: readonly number[],
): Promise<ReadonlyMap<number, Presence>> => {
  if (!ASKS_PS.has(system.backend)) {
    const found = new Map<number, Presence>();
    for (const pid of pids) found.set(pid, await system.presence(pid));
    return found;
  }
  let look: Sample;
  try {
    look = await system.sample();
  } catch (error) {
    // No table is no evidence of an end.
    const why = (error as Error).message;
    return new Map(pids.map(pid => [pid, { status: 'unreadable', why }]));
  }
  const present = new Map<number, Presence>();
  for (const p of look.processes)
    present.set(p.pid, {
      status: 'present',
      identity: { pid: p.pid, start: p.start },
      state: p.state,
      ppid: p.ppid,
      pgid: p.pgid,
      sid: p.sid,
      rss: p.rss,
    });
  return new Map(pids.map(pid => [pid, present.get(pid) ?? { status: 'gone' }]));
};

/** Looks once at everything that is still running, and notes what ended. */
export const noteEnds = async (run: TerminateRun): Promise<void> => {
  const open = running(run);
  const presences = await presencesOf(
    run.system,
    open.map(t => t.step.pid),
  );
  for (const t of open) noteEnd(run, t, presences.get(t.step.pid) ?? { status: 'gone' });
};

export const noteEnd = (run: TerminateRun, t: Tracked, presence: Presence): void => {
  if (presence.status === 'unreadable') return; // not evidence of an end: keep waiting
  const same = presence.status === 'present' && presence.identity.start === t.step.start;
  if (same && !isZombie(presence)) {
    t.state = presence.state;
    return;
  }
  t.diedAt = run.clock.now();
  if (same) t.heldBy = presence.ppid;
  else settleDead(run, t);
};

/** It is certain that it ended; the last signal before says how. */
export const settleDead = (
  run: TerminateRun,
  t: Tracked,
  whenGone = 'it ended before its turn came',
): void => {
  if (t.sent === 'SIGKILL') settle(run, t, 'killed', 'ended by SIGKILL');
  else if (t.sent === 'SIGSTOP') settle(run, t, 'ended', 'ended when it was stopped for its signal');
  else if (t.sent === null && !treeWasSignalled(run, t)) settle(run, t, 'gone', whenGone);
  else if (t.sent === null) settle(run, t, 'ended', 'ended with the rest of its tree, before its own turn');
  else settle(run, t, 'ended', `ended by ${t.sent}`);
};

/** `npm exec` ends by itself when its server does: that is our doing, too. */
const treeWasSignalled = (run: TerminateRun, { step }: Tracked): boolean => {
  const root = keyOf(step.root);
  return [...run.tracked.values()].some(t => t.sent !== null && keyOf(t.step.root) === root);
};

/**
 * Looks for what the members start while they still live to prove it. Not where that is a `ps`, which takes longer
 * than most ends.
 */
const watchForNewcomers = async (run: TerminateRun): Promise<void> => {
  if (ASKS_PS.has(run.system.backend)) return;
  try {
    await noteLinks(run, (await run.system.sample()).processes);
  } catch {
    // The census that comes after the wait says what is wrong with the table.
  }
};

/** Waits until nothing runs any more, the time is over, or the run is stopped. */
export const waitForEnds = async (run: TerminateRun, until: number): Promise<void> => {
  for (let delay = FIRST_POLL_MS; ; delay = Math.min(delay * 2, LAST_POLL_MS)) {
    await noteEnds(run);
    const left = running(run).length;
    const remaining = Math.min(until, run.deadlineAt) - run.clock.now();
    if (left === 0 || remaining <= 0 || stopReason(run) !== null) return;
    await watchForNewcomers(run);
    run.onProgress({
      type: 'wait',
      left,
      elapsedMs: run.clock.now() - run.startedAt,
      graceMs: run.graceMs,
    });
    await run.clock.wait(Math.min(delay, remaining), run.abort);
  }
};
