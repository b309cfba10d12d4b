import { recheckPlan, whyNotKilled } from '../../judge/plan/recheck.ts';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import { DEFAULT_GRACE_MS, type Outcome, type Plan, type SignalName } from '../../model/plan.ts';
import { isZombie } from '../../model/process.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { System } from '../../observe/system.ts';
import { type Clock, REAL_CLOCK } from '../clock.ts';
import { signalIdentity } from '../send-signal.ts';
import { begin, joinNewcomers } from './begin.ts';
import { type Census, takeCensus } from './census.ts';
import { noteRespawns } from './respawn.ts';
import {
  outcomeFor,
  type Progress,
  rootsFirst,
  running,
  settle,
  stopReason,
  type TerminateRun,
  type Tracked,
} from './tracked.ts';
import { noteEnd, noteEnds, presencesOf, settleDead, waitForEnds } from './wait-for-ends.ts';

/** What verifying, respawns and late zombies may take on top of the grace, on a machine that is drowning. */
const DEADLINE_BEYOND_GRACE_MS = 15_000;
/** After KILL a process is gone in milliseconds; one that is not after this long is stuck in the kernel. */
const VERIFY_MS = 1500;
/** Newcomers can beget newcomers; a tree that outruns this many rounds of KILL is reported as it is. */
const KILL_ROUNDS = 4;

export interface TerminateOptions {
  readonly system: System;
  readonly plan: Plan;
  readonly graceMs?: number | undefined;
  /** False: SIGTERM is all that is sent; who takes no notice survives. */
  readonly kills?: boolean | undefined;
  readonly deadlineMs?: number | undefined;
  readonly clock?: Clock | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Judges every process again (`all`), so that what is started meanwhile is protected like the rest. */
  readonly resample?: (() => Promise<Snapshot>) | undefined;
  /** Soft-protected identities whose pid the user typed. */
  readonly confirmed?: ReadonlySet<IdentityKey> | undefined;
}

export interface TerminateResult {
  readonly outcomes: readonly Outcome[];
  readonly freed: number;
  readonly durationMs: number;
  /** Why it stopped before its end (cancelled, deadline); null when it ran through. */
  readonly stopped: string | null;
  readonly warnings: readonly string[];
  /** Why nothing was done and read the plan again: what has changed for the worse since. */
  readonly worse: readonly string[];
}

/** Runs a plan of ending steps: CONT to the stopped, TERM leaves first, grace, newcomers, KILL, verify. */
export const terminate = async (options: TerminateOptions): Promise<TerminateResult> => {
  const { system, plan } = options;
  const clock = options.clock ?? REAL_CLOCK;
  const startedAt = clock.now();
  const graceMs = options.graceMs ?? DEFAULT_GRACE_MS;
  const onProgress = options.onProgress ?? (() => {});
  const refuseAll = (why: string, worse: readonly string[] = []): TerminateResult => {
    const outcomes = plan.steps.map(step => outcomeFor(step, 'refused', why));
    for (const outcome of outcomes) onProgress({ type: 'outcome', outcome });
    return { outcomes, freed: 0, durationMs: clock.now() - startedAt, stopped: null, warnings: [], worse };
  };
  if (plan.steps.length === 0) return refuseAll('');
  if (system.readOnly !== null) return refuseAll(system.readOnly);
  let before: Census;
  try {
    before = await takeCensus(system, options.resample);
  } catch (error) {
    return refuseAll(`the process table could not be read: ${(error as Error).message}`);
  }
  // A session is ended by TERM alone, and never on what was known a while ago.
  const sleeps = plan.how === 'sleep';
  if (sleeps && before.judged === null) return refuseAll('it could not be judged again');
  const again = before.judged === null ? null : recheckPlan(plan, before.judged);
  const worse = again?.worse ?? [];
  if (worse.length > 0) return refuseAll(`read the plan again: ${worse[0]}`, worse);
  const run: TerminateRun = {
    system,
    clock,
    startedAt,
    graceMs,
    holds: plan.policy?.allowSoft !== true && !sleeps && canHold(system),
    alone: sleeps,
    deadlineAt: startedAt + (options.deadlineMs ?? graceMs + DEADLINE_BEYOND_GRACE_MS),
    abort: options.signal,
    before,
    tracked: new Map(),
    byPid: new Map(),
    links: new Map(),
    spared: new Set(),
    warnings: [],
    onProgress,
  };
  const started = await begin(run, plan, {
    confirmed: options.confirmed ?? new Set(),
    dropped: again?.dropped ?? new Map(),
  });
  const census = censusOf(run, options);
  await endAll(run, started.order, census, {
    kills: options.kills !== false && !sleeps,
    forLeaks: again !== null && plan.policy?.allowSoft === false,
  });
  await noteRespawns(run, census);
  await concludeAll(run);
  const outcomes = inPlanOrder(plan, started.outcomes, run);
  return {
    outcomes,
    freed: outcomes.reduce((sum, outcome) => sum + outcome.freed, 0),
    durationMs: clock.now() - startedAt,
    stopped: stopReason(run),
    warnings: run.warnings,
    worse,
  };
};

const endAll = async (
  run: TerminateRun,
  order: readonly Tracked[],
  census: () => Promise<Census | null>,
  { kills, forLeaks }: { readonly kills: boolean; readonly forLeaks: boolean },
): Promise<void> => {
  const killsNow = order.some(t => t.step.signal === 'SIGKILL');
  for (const t of killsNow ? rootsFirst(run, order) : order) {
    if (stopReason(run) !== null) return;
    await send(run, t, t.step.signal);
  }
  const graceEnds = run.clock.now() + (killsNow ? 0 : run.graceMs);
  // Members may all end early and leave newcomers behind; those get the rest of the grace.
  for (;;) {
    await waitForEnds(run, graceEnds);
    if (stopReason(run) !== null || run.clock.now() >= graceEnds) break;
    const newcomers = await join(run, census, 'SIGTERM');
    if (newcomers.length === 0) return;
    for (const t of newcomers) await send(run, t, 'SIGTERM');
  }
  for (let round = 0; kills && round < KILL_ROUNDS && stopReason(run) === null; round += 1) {
    const now = await census();
    if (now !== null) await joinNewcomers(run, now, 'SIGKILL');
    if (forLeaks) spareWanted(run, now?.judged ?? null);
    const stubborn = running(run);
    if (stubborn.length === 0) return;
    await sweepAway(run, stubborn);
    for (const t of rootsFirst(run, running(run))) await send(run, t, 'SIGKILL');
    await waitForEnds(run, run.clock.now() + VERIFY_MS);
    if (running(run).length > 0) return;
  }
};

/** A plan made for leaks kills nothing that is in use by now; without a sample that is unknown. */
const spareWanted = (run: TerminateRun, judged: Snapshot | null): void => {
  const now = new Map(judged?.processes.map(p => [keyOf(p.facts), p]));
  for (const t of running(run)) {
    const p = now.get(keyOf(t.step));
    const why = judged === null ? 'it could not be judged again' : p === undefined ? null : whyNotKilled(p);
    if (why !== null) settle(run, t, 'survived', `it got ${t.sent ?? 'nothing'} and was not killed: ${why}`);
  }
};

/** The portable backend's stubborn are swept away first; what is left is signalled one by one. */
const sweepAway = async (run: TerminateRun, stubborn: readonly Tracked[]): Promise<void> => {
  if (run.system.backend !== 'portable') return;
  const { sweepStubborn } = await import('../portable/tree-sweep.ts');
  const swept = await sweepStubborn(
    run.system,
    stubborn.map(t => t.step),
  );
  const ended = new Set(swept.map(keyOf));
  for (const t of stubborn) {
    if (!ended.has(keyOf(t.step))) continue;
    t.sent = 'SIGKILL';
    run.onProgress({ type: 'signal', step: t.step, signal: 'SIGKILL' });
  }
  await noteEnds(run);
};

const join = async (
  run: TerminateRun,
  census: () => Promise<Census | null>,
  signal: 'SIGTERM' | 'SIGKILL',
): Promise<Tracked[]> => {
  if (run.alone) return [];
  const now = await census();
  return now === null ? [] : joinNewcomers(run, now, signal);
};

const censusOf =
  (run: TerminateRun, { resample }: TerminateOptions) =>
  async (): Promise<Census | null> => {
    try {
      return await takeCensus(run.system, resample);
    } catch (error) {
      // What is planned can still be verified pid by pid; only newcomers stay unseen.
      const why = `the process table could not be read again: ${(error as Error).message}`;
      if (!run.warnings.includes(why)) run.warnings.push(why);
      return null;
    }
  };

const inPlanOrder = (plan: Plan, early: readonly Outcome[], run: TerminateRun): readonly Outcome[] => {
  const found = new Map(early.map(outcome => [keyOf(outcome), outcome]));
  for (const [key, t] of run.tracked) if (t.outcome !== null) found.set(key, t.outcome);
  const planned = plan.steps.map(step => found.get(keyOf(step))).filter(outcome => outcome !== undefined);
  const keys = new Set(plan.steps.map(keyOf));
  return [...planned, ...[...found.values()].filter(outcome => !keys.has(keyOf(outcome)))];
};

/** Only where a look is quick: a `ps` takes longer than what it would guard against. */
export const canHold = ({ backend, deliver }: System): boolean =>
  backend === 'procfs' && deliver === undefined;

/** Sends one ending signal; the identity is re-read right before. Every answer is noted. */
export const send = async (run: TerminateRun, t: Tracked, signal: SignalName): Promise<void> => {
  const { step } = t;
  if (signal !== 'SIGKILL' && (step.stopped || t.state === 'T')) {
    // A stopped process keeps TERM pending until it is continued.
    await signalIdentity(run.system, step, 'SIGCONT');
  }
  const hold = run.holds || (signal === 'SIGKILL' && canHold(run.system));
  const result = await signalIdentity(run.system, step, signal, { hold });
  switch (result.status) {
    case 'sent':
      t.sent = signal;
      run.onProgress({ type: 'signal', step, signal });
      return;
    case 'gone':
      if (result.held) t.sent ??= 'SIGSTOP';
      // It may wait to be reaped, and then its parent is to be named.
      noteEnd(run, t, await run.system.presence(step.pid));
      return;
    case 'changed':
      t.diedAt = run.clock.now();
      settleDead(run, t, 'its pid names another process now: nothing was sent');
      return;
    case 'denied':
      settle(run, t, 'denied', `the system does not permit ${signal} to it (EPERM)`);
      return;
    case 'unreadable':
      if (t.sent === null) settle(run, t, 'refused', `it could not be identified again: ${result.why}`);
      else settle(run, t, 'survived', `it got ${t.sent}, then could not be identified again: ${result.why}`);
  }
};

/** A parent at work reaps within milliseconds; one that has not after this long holds a zombie. */
const REAP_MS = 500;

/** Gives every identity that has none yet its outcome, from a last look at it. */
export const concludeAll = async (run: TerminateRun): Promise<void> => {
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

const letParentsReap = async (run: TerminateRun): Promise<void> => {
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
const isReaper = (run: TerminateRun, t: Tracked, ppid: number | null): boolean => {
  if (ppid === null || ppid <= 1) return true;
  // Handed over when its parent ended: what adopts orphans reaps them.
  if (ppid !== t.facts.ppid) return true;
  return run.before.byPid.get(ppid)?.adopts === true;
};

const settleZombie = (run: TerminateRun, t: Tracked, ppid: number | null): void => {
  if (isReaper(run, t, ppid)) {
    settleDead(run, t);
    return;
  }
  const parent = run.before.byPid.get(ppid ?? 0);
  settle(run, t, 'zombie', `it ended, and ${ppid} ${parent?.name ?? 'its parent'} has not collected it`);
};

const settleAlive = (run: TerminateRun, t: Tracked, state: string): void => {
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
