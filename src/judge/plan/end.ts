import { type Identity, keyOf } from '../../model/identity.ts';
import type { EndPolicy, Plan, Refusal, SignalName, Step } from '../../model/plan.ts';
import { isZombie } from '../../model/process.ts';
import { type JudgedProcess, label, type Snapshot } from '../../model/snapshot.ts';
import {
  composePlan,
  type EndableTree,
  type ExtraReason,
  endableTree,
  handPolicy,
  lineageBranchesOf,
  memberWhy,
  type PlanContext,
  type PlanInput,
  planContext,
  policyFor,
  refusalFor,
  stepFor,
  unknownTarget,
} from './compose.ts';
import { neverReason, targetReason, unfitSnapshot } from './refuse.ts';

export interface EndRequest extends PlanInput {
  readonly targets: readonly Identity[];
  readonly policy: EndPolicy;
}

/** Ending these subtrees, with what was reparented out of them: leaves first, each taken whole or left whole. */
export const planEnd = (request: EndRequest): Plan => planEndOn(planContext(request), request);

export const planEndOn = (
  context: PlanContext,
  { targets, policy }: Pick<EndRequest, 'targets' | 'policy'>,
  extraReason?: ExtraReason,
): Plan => {
  const chosen = new Map<JudgedProcess, Step>();
  const refused: Refusal[] = [];
  const unfit = unfitSnapshot(context.snapshot, context.family);

  const take = (members: readonly JudgedProcess[], root: JudgedProcess, how: 'subtree' | 'lineage'): void => {
    for (const p of members)
      if (!chosen.has(p))
        chosen.set(p, stepFor(p, { root, signal: policy.signal, why: memberWhy(p, root, how) }));
  };

  const roots = new Set<JudgedProcess>();
  for (const target of targets) {
    const root = context.family.byKey.get(keyOf(target));
    if (root === undefined) refused.push(unknownTarget(target, context.family));
    else roots.add(root);
  }
  for (const root of outermostFirst(roots, context)) {
    const why = unfit ?? (isZombie(root.facts) ? zombieReason(root, context) : null);
    if (why !== null) {
      refused.push(refusalFor(root, why));
      continue;
    }
    const own = policyFor(root.facts, policy);
    const branch = endableTree(root, context, own, extraReason);
    const reason = branch.taken ? targetReason(root, own) : branch.why;
    if (!branch.taken || reason !== null) {
      refused.push(refusalFor(root, reason ?? 'it is protected'));
      continue;
    }
    take(branch.members, root, 'subtree');
    // What left the subtree is judged on its own: leaving it alone does not half-kill the target.
    for (const stray of lineageBranchesOf(root, context)) {
      const strayBranch: EndableTree = stray.adopted
        ? endableTree(stray.root, context, policy, extraReason)
        : { taken: false, why: stray.why };
      if (strayBranch.taken) take(strayBranch.members, root, 'lineage');
      else refused.push(refusalFor(stray.root, strayBranch.why));
    }
  }
  return composePlan(chosen, refused, context.family, policy);
};

/** So that a step names the outermost target it belongs to, whatever the order of the marks. */
const outermostFirst = (roots: Iterable<JudgedProcess>, { family }: PlanContext): readonly JudgedProcess[] =>
  Array.from(roots, root => ({ root, depth: family.ancestorsOf(root).length }))
    .sort((a, b) => a.depth - b.depth || a.root.facts.pid - b.root.facts.pid)
    .map(({ root }) => root);

const zombieReason = (zombie: JudgedProcess, { family }: PlanContext): string => {
  const parent = family.parentOf(zombie);
  return parent === null
    ? 'it is a zombie: it has ended, but was not collected'
    : `it is a zombie of ${label(parent)}; use z to have the parent collect it`;
};

export interface SignalRequest {
  readonly snapshot: Snapshot;
  readonly targets: readonly Identity[];
  readonly signal: SignalName;
}

/** `S`: this signal to exactly these processes, children untouched. Hard protection holds here too. */
export const planSignal = ({ snapshot, targets, signal }: SignalRequest): Plan => {
  const context = planContext({ snapshot, lineageMembers: () => [] });
  const unfit = unfitSnapshot(snapshot, context.family);
  const chosen = new Map<JudgedProcess, Step>();
  const refused: Refusal[] = [];
  for (const target of targets) {
    const p = context.family.byKey.get(keyOf(target));
    if (p === undefined) {
      refused.push(unknownTarget(target, context.family));
      continue;
    }
    const zombie = isZombie(p.facts) ? zombieReason(p, context) : null;
    const why = unfit ?? neverReason(p, snapshot, context.family) ?? zombie;
    if (why !== null) refused.push(refusalFor(p, why));
    else chosen.set(p, stepFor(p, { root: p, signal, why: `${signal} was asked for` }));
  }
  return { ...composePlan(chosen, refused, context.family, { ...handPolicy(), signal }), how: 'signal' };
};
