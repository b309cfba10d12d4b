import { type IdentityKey, keyOf } from '../model/identity.ts';
import type { Outcome, Step } from '../model/plan.ts';
import { isZombie, type ProcessFacts } from '../model/process.ts';
import type { Look } from '../model/snapshot.ts';
import { REAL_CLOCK } from './clock.ts';
import { outcomeOf } from './run.ts';
import { type TerminateOptions, type TerminateResult, terminate } from './terminate.ts';
import { presencesOf } from './watch.ts';

/** How long a parent gets to reap after SIGCHLD (section 6 of the contract). */
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
  if (system.readOnly !== null || nudges.length === 0)
    return terminate({ ...options, plan: { ...plan, steps: ends } });

  const zombies = zombiesIn(await system.look(), nudges);
  const outcomes: Outcome[] = [];
  for (const step of nudges) {
    if (options.signal?.aborted === true) break;
    const result = await system.signal(step, 'SIGCHLD');
    if (result.status === 'denied')
      outcomes.push(outcomeOf(step, 'denied', 'the system does not permit SIGCHLD to it (EPERM)'));
    if (result.status === 'sent') options.onProgress?.({ type: 'signal', step, signal: 'SIGCHLD' });
  }
  await waitUntilReaped(options, zombies, startedAt + REAP_MS);

  const owing = new Set<IdentityKey>();
  for (const z of await stillThere(options, zombies)) owing.add(keyOf(z.parent));
  const candidates = ends.filter(step => owing.has(keyOf(step.root)));
  const verdicts =
    candidates.length === 0 ? new Map<IdentityKey, string>() : await unquietRoots(options, candidates);
  const quiet = candidates.filter(step => !verdicts.has(keyOf(step.root)));
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

/** Which parents must stay after all, and why: their subtree worked, changed or could not be measured. */
const unquietRoots = async (
  options: ZombieOptions,
  steps: readonly Step[],
): Promise<Map<IdentityKey, string>> => {
  const clock = options.clock ?? REAL_CLOCK;
  const roots = new Map(steps.map(step => [keyOf(step.root), step.root]));
  const before = await options.system.look();
  await clock.wait(options.quietSeconds * 1000, options.signal);
  // A look re-reads in slices; CPU time that is seconds old would make a busy server look quiet.
  const watched = [...roots.values()].flatMap(root => subtree(root.pid, before));
  options.system.follow(new Set(watched.map(keyOf)));
  const after = await options.system.look();
  const reasons = new Map<IdentityKey, string>();
  for (const [key, root] of roots) {
    const reason = options.signal?.aborted === true ? 'it was cancelled' : workOf(root.pid, before, after);
    if (reason !== null) reasons.set(key, `it stays: ${reason}`);
  }
  return reasons;
};

const workOf = (root: number, before: Look, after: Look): string | null => {
  const earlier = new Map(subtree(root, before).map(p => [keyOf(p), p]));
  for (const p of subtree(root, after)) {
    const was = earlier.get(keyOf(p));
    if (was === undefined) return `${p.pid} ${p.comm} was started below it meanwhile`;
    if (p.cpuSeconds === null || was.cpuSeconds === null)
      return `the CPU time of ${p.pid} ${p.comm} cannot be read`;
    if (p.cpuSeconds > was.cpuSeconds) return `${p.pid} ${p.comm} used the CPU meanwhile`;
  }
  return null;
};

const subtree = (root: number, look: Look): readonly ProcessFacts[] => {
  const members = new Set([root]);
  // Children may be listed before their parents: go on until a whole pass adds nobody.
  for (let size = 0; size !== members.size; ) {
    size = members.size;
    for (const p of look.processes) if (p.ppid !== null && members.has(p.ppid)) members.add(p.pid);
  }
  return look.processes.filter(p => members.has(p.pid) && !isZombie(p));
};

const zombieOutcome = ({ facts, parent }: Held, left: boolean, ended: readonly Outcome[]): Outcome => {
  const parentEnded = ended.some(
    o => keyOf(o) === keyOf(parent) && (o.outcome === 'ended' || o.outcome === 'killed'),
  );
  const base = { pid: facts.pid, start: facts.start, name: facts.comm, freed: 0 };
  if (left) return { ...base, outcome: 'zombie', why: `${parent.pid} ${parent.name} has not reaped it` };
  const how = parentEnded ? 'reaped when its parent ended' : 'reaped by its parent after SIGCHLD';
  return { ...base, outcome: 'ended', why: how };
};
