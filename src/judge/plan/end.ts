import { type Identity, keyOf } from '../../model/identity.ts';
import type { Plan, Refusal, Step } from '../../model/plan.ts';
import { isZombie } from '../../model/process.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import { calls } from '../../words/process.ts';
import {
  type Branch,
  branchOf,
  type ExtraReason,
  type Ground,
  groundOf,
  lineageBranchesOf,
  type PlanGround,
} from './branches.ts';
import { composePlan, memberWhy, refusalFor, stepFor, unknownTarget } from './compose.ts';
import type { EndPolicy } from './policy.ts';
import { targetReason, unfitSnapshot } from './refuse.ts';

export interface EndRequest extends PlanGround {
  readonly targets: readonly Identity[];
  readonly policy: EndPolicy;
}

/** Ending these subtrees, with what was reparented out of them: leaves first, each taken whole or left whole. */
export const planEnd = (request: EndRequest): Plan => planEndOn(groundOf(request), request);

export const planEndOn = (
  ground: Ground,
  { targets, policy }: Pick<EndRequest, 'targets' | 'policy'>,
  extraReason?: ExtraReason,
): Plan => {
  const chosen = new Map<JudgedProcess, Step>();
  const refused: Refusal[] = [];
  const unfit = unfitSnapshot(ground.snapshot, ground.family);

  const take = (members: readonly JudgedProcess[], root: JudgedProcess, how: 'subtree' | 'lineage'): void => {
    for (const p of members)
      if (!chosen.has(p))
        chosen.set(p, stepFor(p, { root, signal: policy.signal, why: memberWhy(p, root, how) }));
  };

  const roots = new Set<JudgedProcess>();
  for (const target of targets) {
    const root = ground.family.byKey.get(keyOf(target));
    if (root === undefined) refused.push(unknownTarget(target, ground.family));
    else roots.add(root);
  }
  for (const root of outermostFirst(roots, ground)) {
    const why = unfit ?? (isZombie(root.facts) ? zombieReason(root, ground) : null);
    if (why !== null) {
      refused.push(refusalFor(root, why));
      continue;
    }
    const branch = branchOf(root, ground, policy, extraReason);
    const reason = branch.taken ? targetReason(root, policy) : branch.why;
    if (!branch.taken || reason !== null) {
      refused.push(refusalFor(root, reason ?? 'it is protected'));
      continue;
    }
    take(branch.members, root, 'subtree');
    // What left the subtree is judged on its own: leaving it alone does not half-kill the target.
    for (const stray of lineageBranchesOf(root, ground)) {
      const strayBranch: Branch = stray.adopted
        ? branchOf(stray.root, ground, policy, extraReason)
        : { taken: false, why: stray.why };
      if (strayBranch.taken) take(strayBranch.members, root, 'lineage');
      else refused.push(refusalFor(stray.root, strayBranch.why));
    }
  }
  return composePlan(chosen, refused, ground.family, policy);
};

/** So that a step names the outermost target it belongs to, whatever the order of the marks. */
const outermostFirst = (roots: Iterable<JudgedProcess>, { family }: Ground): readonly JudgedProcess[] =>
  Array.from(roots, root => ({ root, depth: family.ancestorsOf(root).length }))
    .sort((a, b) => a.depth - b.depth || a.root.facts.pid - b.root.facts.pid)
    .map(({ root }) => root);

export const zombieReason = (zombie: JudgedProcess, { family }: Ground): string => {
  const parent = family.parentOf(zombie);
  return parent === null
    ? 'it has already ended and waits to be reaped'
    : `it has already ended; ${calls(parent)} has not reaped it, and only dealing with that parent's zombies clears it`;
};
