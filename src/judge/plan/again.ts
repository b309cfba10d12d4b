import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { EndPolicy, Plan, Step } from '../../model/plan.ts';
import { isZombie } from '../../model/process.ts';
import type { JudgedProcess, Snapshot, Verdict } from '../../model/snapshot.ts';
import { calls } from '../../words/process.ts';
import { branchOf, type Ground, groundOf } from './branches.ts';
import { targetReason, unfitSnapshot } from './refuse.ts';

/** What a look right before the first signal says of a plan that was made a while ago. */
export interface JudgedAgain {
  /** Steps of a plan for leaks that are no longer what it was made for, and why. The rest goes on. */
  readonly dropped: ReadonlyMap<IdentityKey, string>;
  /** What changed for the worse in a plan that a person read: nothing of it is done, and it is shown again. */
  readonly worse: readonly string[];
}

const AS_IT_WAS: JudgedAgain = { dropped: new Map(), worse: [] };

/** The further down, the more is lost by ending it. */
const LOSSES: readonly Verdict[] = ['leak', 'suspect', 'unknown', 'live', 'protected'];

/**
 * Holds a plan against a fresh snapshot, by the rules that it was made by: between plan and signal an owner may
 * have registered, a session may have changed its id, somebody may have connected.
 */
export const judgeAgain = (plan: Plan, snapshot: Snapshot): JudgedAgain => {
  const { policy } = plan;
  if (policy === undefined) return AS_IT_WAS;
  const ground = groundOf({ snapshot, lineageMembers: () => [] });
  return policy.allowSoft
    ? { ...AS_IT_WAS, worse: worseThan(plan, ground) }
    : { ...AS_IT_WAS, dropped: noLongerTaken(plan, policy, ground) };
};

/**
 * Why a process that took no notice of TERM is not killed: somebody wants it by now. What merely works does so because
 * it was told to end, and what is no longer proven has lost its proof with the rest of its tree.
 */
export const whyNotKilled = (p: JudgedProcess): string | null => {
  if (p.protection !== null) return p.protectedBecause ?? 'it is protected';
  if (p.verdict === 'live') return `it is live: ${p.why[0] ?? 'in use'}`;
  return p.doubt === undefined || p.doubt.atWork ? null : p.doubt.why;
};

const stillThere = (step: { readonly pid: number; readonly start: string }, { family }: Ground) => {
  const now = family.byKey.get(keyOf(step));
  return now === undefined || isZombie(now.facts) ? null : now;
};

const noLongerTaken = (plan: Plan, policy: EndPolicy, ground: Ground): ReadonlyMap<IdentityKey, string> => {
  const unfit = unfitSnapshot(ground.snapshot, ground.family);
  // Whoever was old enough for the plan is older now.
  const anyAge: EndPolicy = { ...policy, minimumAgeSeconds: 0 };
  const known = new Map<JudgedProcess, string | null>();
  const whyNot = (target: JudgedProcess): string | null => {
    if (!known.has(target)) {
      const branch = branchOf(target, ground, anyAge);
      known.set(target, unfit ?? (branch.taken ? targetReason(target, anyAge) : branch.why));
    }
    return known.get(target) ?? null;
  };
  const dropped = new Map<IdentityKey, string>();
  for (const step of plan.steps) {
    const now = stillThere(step, ground);
    if (now === null) continue;
    const root = stillThere(step.root, ground);
    const why = root === null ? whyNot(now) : (whyNot(root) ?? whyStrayStays(now, root, ground, anyAge));
    if (why !== null) dropped.set(keyOf(step), `judged again before the first signal: ${why}`);
  }
  return dropped;
};

/** What left its target's subtree stays or goes by itself. */
const whyStrayStays = (
  p: JudgedProcess,
  root: JudgedProcess,
  ground: Ground,
  policy: EndPolicy,
): string | null => {
  if (ground.family.subtreeOf(root).includes(p)) return null;
  const branch = branchOf(p, ground, policy);
  return branch.taken ? null : branch.why;
};

const worseThan = (plan: Plan, ground: Ground): readonly string[] =>
  plan.steps.flatMap(step => {
    const now = stillThere(step, ground);
    const why = now === null ? null : whyWorse(step, now);
    return why === null ? [] : [why];
  });

const whyWorse = ({ subject, confirm }: Step, now: JudgedProcess): string | null => {
  if (now.protection !== null && !confirm)
    return `${calls(now)} is protected now: ${now.protectedBecause ?? now.why[0] ?? ''}`;
  if (subject === undefined || LOSSES.indexOf(now.verdict) <= LOSSES.indexOf(subject.verdict)) return null;
  return `${calls(now)} was ${subject.verdict} and is ${now.verdict} now: ${now.why[0] ?? ''}`;
};
