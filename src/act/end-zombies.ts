import { forestOf } from '../model/forest.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import type { Sample } from '../model/observation.ts';
import type { Outcome, Plan, Step } from '../model/plan.ts';
import { isZombie, type ProcessFacts } from '../model/process.ts';
import { nameAndPid } from '../model/snapshot.ts';
import type { System } from '../observe/system.ts';
import { type Clock, REAL_CLOCK } from './clock.ts';
import { signalIdentity } from './send-signal.ts';
import { type TerminateOptions, type TerminateResult, terminate } from './terminate/terminate.ts';
import { outcomeFor } from './terminate/tracked.ts';
import { presencesOf } from './terminate/wait-for-ends.ts';

/** How long a parent gets to reap after SIGCHLD (manual verdicts, The safety rules, 9). */
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
      outcomes.push(outcomeFor(step, 'denied', 'the system does not permit SIGCHLD to it (EPERM)'));
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
    if (why !== undefined) outcomes.push(outcomeFor(step, 'refused', why));
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
  outcomes: plan.steps.map(step => outcomeFor(step, 'refused', why)),
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

const zombiesIn = (look: Sample, nudges: readonly Step[]): readonly Held[] =>
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
    return { ...base, outcome: 'zombie', why: `${nameAndPid(parent.name, parent.pid)} has not collected it` };
  const how = parentEnded ? 'reaped when its parent ended' : 'reaped by its parent after SIGCHLD';
  return { ...base, outcome: 'ended', why: how };
};

export interface QuietOptions {
  readonly system: System;
  readonly quietSeconds: number;
  readonly signal?: AbortSignal | undefined;
}

/** The table, or a sentence that says why there is none. */
const lookOrWhy = async (system: System): Promise<Sample | string> => {
  try {
    return await system.sample();
  } catch (error) {
    return `the process table could not be read: ${(error as Error).message}`;
  }
};

/** Which parents must stay after all, and why: their subtree worked, changed or could not be measured. */
const unquietRoots = async (
  options: QuietOptions,
  clock: Clock,
  steps: readonly Step[],
): Promise<Map<IdentityKey, string>> => {
  if (steps.length === 0) return new Map();
  const roots = new Map(steps.map(step => [keyOf(step.root), step.root]));
  const before = await lookOrWhy(options.system);
  if (typeof before === 'string') return new Map([...roots.keys()].map(key => [key, `it stays: ${before}`]));
  await clock.wait(options.quietSeconds * 1000, options.signal);
  // A look re-reads in slices; CPU time that is seconds old would make a busy server look quiet.
  const watched = [...roots.values()].flatMap(root => subtree(root.pid, before));
  options.system.follow(new Set(watched.map(keyOf)));
  const after = await lookOrWhy(options.system);
  if (typeof after === 'string') return new Map([...roots.keys()].map(key => [key, `it stays: ${after}`]));
  const reasons = new Map<IdentityKey, string>();
  for (const [key, root] of roots) {
    const reason = options.signal?.aborted === true ? 'it was cancelled' : workOf(root.pid, before, after);
    if (reason !== null) reasons.set(key, `it stays: ${reason}`);
  }
  return reasons;
};

const workOf = (root: number, before: Sample, after: Sample): string | null => {
  const earlier = new Map(subtree(root, before).map(p => [keyOf(p), p]));
  for (const p of subtree(root, after)) {
    const was = earlier.get(keyOf(p));
    if (was === undefined) return `${nameAndPid(p.comm, p.pid)} was started below it meanwhile`;
    if (p.cpuSeconds === null || was.cpuSeconds === null)
      return `the CPU time of ${nameAndPid(p.comm, p.pid)} cannot be read`;
    if (p.cpuSeconds > was.cpuSeconds) return `${nameAndPid(p.comm, p.pid)} used the CPU meanwhile`;
  }
  return null;
};

const subtree = (root: number, { processes }: Sample): readonly ProcessFacts[] => {
  const forest = forestOf(processes, p => p);
  const top = forest.at(root);
  return top === null ? [] : forest.subtreeOf(top).filter(p => !isZombie(p));
};
