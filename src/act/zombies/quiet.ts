import { forestOf } from '../../model/forest.ts';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { Look } from '../../model/observation.ts';
import type { Step } from '../../model/plan.ts';
import { isZombie, type ProcessFacts } from '../../model/process.ts';
import type { System } from '../../observe/system.ts';
import { nameAndPid } from '../../words/process.ts';
import type { Clock } from '../clock.ts';

export interface QuietOptions {
  readonly system: System;
  readonly quietSeconds: number;
  readonly signal?: AbortSignal | undefined;
}

/** The table, or a sentence that says why there is none. */
export const lookOrWhy = async (system: System): Promise<Look | string> => {
  try {
    return await system.look();
  } catch (error) {
    return `the process table could not be read: ${(error as Error).message}`;
  }
};

/** Which parents must stay after all, and why: their subtree worked, changed or could not be measured. */
export const unquietRoots = async (
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

const workOf = (root: number, before: Look, after: Look): string | null => {
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

const subtree = (root: number, { processes }: Look): readonly ProcessFacts[] => {
  const forest = forestOf(processes, p => p);
  const top = forest.at(root);
  return top === null ? [] : forest.subtreeOf(top).filter(p => !isZombie(p));
};
