import { recheckPlan } from '../judge/plan/recheck.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import { ENDING_SIGNALS, type Outcome, type Plan } from '../model/plan.ts';
import { isZombie } from '../model/process.ts';
import type { Snapshot } from '../model/snapshot.ts';
import type { System } from '../observe/system.ts';
import { type Clock, REAL_CLOCK } from './clock.ts';
import { signalIdentity } from './send-signal.ts';
import { outcomeFor } from './terminate/tracked.ts';

/** How long a chosen signal may take to show its effect. */
const EFFECT_MS = 1000;

export interface SignalOptions {
  readonly system: System;
  readonly plan: Plan;
  readonly clock?: Clock | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly confirmed?: ReadonlySet<IdentityKey> | undefined;
  /** Judges every process again, right before the first signal. */
  readonly resample?: (() => Promise<Snapshot>) | undefined;
}

export interface SignalsResult {
  readonly outcomes: readonly Outcome[];
  readonly summary: string;
  /** Why nothing was sent and read the plan again: what has changed for the worse since. */
  readonly worse: readonly string[];
}

/**
 * Runs a plan of `planSignal`: each signal once, no escalation. A process that takes the signal and
 * runs on is `survived`, which here is no failure; the summary says what was sent.
 */
export const executeSignals = async (options: SignalOptions): Promise<SignalsResult> => {
  const { system, plan, resample } = options;
  // SIGCHLD asks a parent to reap: it ends nothing, whatever has the pid now.
  const harmless = plan.steps.every(step => step.signal === 'SIGCHLD');
  const worse = resample === undefined || harmless ? [] : recheckPlan(plan, await resample()).worse;
  if (worse.length > 0) {
    const why = `read the plan again: ${worse[0]}`;
    return { outcomes: plan.steps.map(step => outcomeFor(step, 'refused', why)), summary: why, worse };
  }
  const clock = options.clock ?? REAL_CLOCK;
  const outcomes = new Map<IdentityKey, Outcome>();
  const sent = new Set<IdentityKey>();
  for (const step of plan.steps) {
    const key = keyOf(step);
    const note = (outcome: Outcome['outcome'], why: string) =>
      outcomes.set(key, outcomeFor(step, outcome, why));
    if (system.readOnly !== null) note('refused', system.readOnly);
    else if (options.signal?.aborted === true) note('refused', 'nothing was sent: it was cancelled');
    else if (step.confirm && options.confirmed?.has(key) !== true)
      note('refused', 'it is protected and was not confirmed by its pid');
    else {
      const result = await signalIdentity(system, step, step.signal);
      if (result.status === 'sent') sent.add(key);
      else if (result.status === 'gone') note('gone', 'it had already ended');
      else if (result.status === 'changed')
        note('gone', 'its pid names another process now: nothing was sent');
      else if (result.status === 'denied')
        note('denied', `the system does not permit ${step.signal} to it (EPERM)`);
      else note('refused', `it could not be identified again: ${result.why}`);
    }
  }
  await noteEnds(options, clock, sent, outcomes);
  for (const step of plan.steps)
    if (!outcomes.has(keyOf(step)))
      outcomes.set(keyOf(step), outcomeFor(step, 'survived', `it got ${step.signal} and runs on`));
  const signal = plan.steps[0]?.signal ?? 'nothing';
  const unsent = plan.steps.length - sent.size;
  return {
    outcomes: plan.steps.map(step => outcomes.get(keyOf(step))).filter(outcome => outcome !== undefined),
    summary: `${signal} sent to ${sent.size}${unsent === 0 ? '' : `, not to ${unsent}`}`,
    worse,
  };
};

/** What the signals ended, as far as that shows within a second. */
const noteEnds = async (
  { system, plan, signal }: SignalOptions,
  clock: Clock,
  sent: ReadonlySet<IdentityKey>,
  outcomes: Map<IdentityKey, Outcome>,
): Promise<void> => {
  const until = clock.now() + EFFECT_MS;
  for (let delay = 5; ; delay = Math.min(delay * 2, 160)) {
    let waiting = false;
    for (const step of plan.steps) {
      if (!sent.has(keyOf(step)) || outcomes.has(keyOf(step))) continue;
      const now = await system.presence(step.pid);
      const runs =
        now.status === 'unreadable' ||
        (now.status === 'present' && now.identity.start === step.start && !isZombie(now));
      if (!runs)
        outcomes.set(
          keyOf(step),
          outcomeFor(step, step.signal === 'SIGKILL' ? 'killed' : 'ended', `ended by ${step.signal}`),
        );
      else if (ENDING_SIGNALS.has(step.signal)) waiting = true;
    }
    if (!waiting || clock.now() >= until || signal?.aborted === true) break;
    await clock.wait(delay, signal);
  }
};
