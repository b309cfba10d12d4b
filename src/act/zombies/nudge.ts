import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { Look } from '../../model/observation.ts';
import type { Outcome, Plan, Step } from '../../model/plan.ts';
import { isZombie, type ProcessFacts } from '../../model/process.ts';
import { nameAndPid } from '../../words/process.ts';
import { REAL_CLOCK } from '../clock.ts';
import { signalIdentity } from '../signal/signal-identity.ts';
import { outcomeOf } from '../terminate/run.ts';
import { type TerminateOptions, type TerminateResult, terminate } from '../terminate/terminate.ts';
import { presencesOf } from '../terminate/watch.ts';
import { lookOrWhy, unquietRoots } from './quiet.ts';

/** How long a parent gets to reap after SIGCHLD (README, The safety rules, 9). */
const REAP_MS = 2000;

export interface ZombieOptions extends TerminateOptions {
  /** How long the parent's subtree must use no CPU before it is ended. */
  readonly quietSeconds: number;
}

/**
 * Runs a plan of `planZombies`: SIGCHLD to the parents, time to reap, and only where that did not
 * help and the subtree then stays quiet, the end of the parent.
 */
export const endZombies = async (options: ZombieOptions): Promise<TerminateResult> => {
  const { system, plan } = options;
  const clock = options.clock ?? REAL_CLOCK;
  const startedAt = clock.now();
  const nudges = plan.steps.filter(step => step.signal === 'SIGCHLD');
  const ends = plan.steps.filter(step => step.signal !== 'SIGCHLD');
  if (system.readOnly !== null) return notRun(plan, system.readOnly, 0);
  const table = await lookOrWhy(system);
  if (typeof table === 'string') return notRun(plan, table, clock.now() - startedAt);
  const zombies = zombiesIn(table, nudges);
  const outcomes: Outcome[] = [];
  for (const step of nudges) {
    if (options.signal?.aborted === true) break;
    const result = await signalIdentity(system, step, 'SIGCHLD');
    if (result.status === 'denied')
      outcomes.push(outcomeOf(step, 'denied', 'the system does not permit SIGCHLD to it (EPERM)'));
    if (result.status === 'sent') options.onProgress?.({ type: 'signal', step, signal: 'SIGCHLD' });
  }
  await waitUntilReaped(options, zombies, startedAt + REAP_MS);

  const owing = async (): Promise<ReadonlySet<IdentityKey>> =>
    new Set((await stillThere(options, zombies)).map(z => keyOf(z.parent)));
  const unhelped = await owing();
  const candidates = ends.filter(step => unhelped.has(keyOf(step.root)));
  const verdicts = await unquietRoots(options, clock, candidates);
  // Ten quiet seconds are long enough for a parent to reap after all.
  const unhelpedStill = await owing();
  const quiet = candidates.filter(
    step => !verdicts.has(keyOf(step.root)) && unhelpedStill.has(keyOf(step.root)),
  );
  for (const step of candidates) {
    const why = verdicts.get(keyOf(step.root));
    if (why !== undefined) outcomes.push(outcomeOf(step, 'refused', why));
  }
  const ended = await terminate({ ...options, plan: { ...plan, steps: quiet } });
  const left = new Set((await stillThere(options, zombies)).map(z => keyOf(z.facts)));
  const all = [
    ...zombies.map(z => zombieOutcome(z, left.has(keyOf(z.facts)), ended.outcomes)),
    ...outcomes,
    ...ended.outcomes,
  ];
  return { ...ended, outcomes: all, durationMs: clock.now() - startedAt };
};

const notRun = (plan: Plan, why: string, durationMs: number): TerminateResult => ({
  outcomes: plan.steps.map(step => outcomeOf(step, 'refused', why)),
  freed: 0,
  durationMs,
  stopped: null,
  warnings: [],
  worse: [],
});

interface Held {
  readonly facts: ProcessFacts;
  readonly parent: Step;
}

const zombiesIn = (look: Look, nudges: readonly Step[]): readonly Held[] =>
  look.processes.flatMap(facts => {
    const parent = isZombie(facts) ? nudges.find(step => step.pid === facts.ppid) : undefined;
    return parent === undefined ? [] : [{ facts, parent }];
  });

const stillThere = async ({ system }: ZombieOptions, zombies: readonly Held[]): Promise<readonly Held[]> => {
  const now = await presencesOf(
    system,
    zombies.map(z => z.facts.pid),
  );
  return zombies.filter(z => {
    const presence = now.get(z.facts.pid);
    return (
      presence?.status === 'present' &&
      presence.identity.start === z.facts.start &&
      presence.ppid === z.parent.pid
    );
  });
};

const waitUntilReaped = async (
  options: ZombieOptions,
  zombies: readonly Held[],
  until: number,
): Promise<void> => {
  const clock = options.clock ?? REAL_CLOCK;
  for (
    let delay = 5;
    clock.now() < until && options.signal?.aborted !== true;
    delay = Math.min(delay * 2, 320)
  ) {
    if ((await stillThere(options, zombies)).length === 0) return;
    await clock.wait(Math.min(delay, until - clock.now()), options.signal);
  }
};

const zombieOutcome = ({ facts, parent }: Held, left: boolean, ended: readonly Outcome[]): Outcome => {
  const parentEnded = ended.some(
    o => keyOf(o) === keyOf(parent) && (o.outcome === 'ended' || o.outcome === 'killed'),
  );
  const base = { pid: facts.pid, start: facts.start, name: facts.comm, freed: 0 };
  if (left)
    return { ...base, outcome: 'zombie', why: `${nameAndPid(parent.name, parent.pid)} has not reaped it` };
  const how = parentEnded ? 'reaped when its parent ended' : 'reaped by its parent after SIGCHLD';
  return { ...base, outcome: 'ended', why: how };
};
