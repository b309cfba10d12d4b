import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { EndPolicy, Plan, Step } from '../../model/plan.ts';
import { isZombie } from '../../model/process.ts';
import { type JudgedProcess, label, type Snapshot, type Verdict } from '../../model/snapshot.ts';
import { endableTree, type PlanContext, planContext, policyFor } from './compose.ts';
import { targetReason, unfitSnapshot } from './refuse.ts';
import { noLongerSlept } from './sleep.ts';
import type { SweepPlan } from './sweep-plan.ts';

/** What a look right before the first signal says of a plan that was made a while ago. */
export interface RecheckedPlan {
  /** Steps of a plan for leaks that are no longer what it was made for, and why. The rest goes on. */
  readonly dropped: ReadonlyMap<IdentityKey, string>;
  /** What changed for the worse in a plan that a person read: nothing of it is done, and it is shown again. */
  readonly worse: readonly string[];
}

const AS_IT_WAS: RecheckedPlan = { dropped: new Map(), worse: [] };

/** The further down, the more is lost by ending it. */
const LOSSES: readonly Verdict[] = ['leak', 'suspect', 'unknown', 'live', 'protected'];

/**
 * Holds a plan against a fresh snapshot, by the rules that it was made by: between plan and signal an owner may
 * have registered, a session may have changed its id, a client may have connected.
 */
export const recheckPlan = (plan: Plan, snapshot: Snapshot): RecheckedPlan => {
  const { policy } = plan;
  if (plan.sleep !== undefined) return { ...AS_IT_WAS, dropped: noLongerSlept(plan, snapshot) };
  if (policy === undefined) return AS_IT_WAS;
  const context = planContext({ snapshot, lineageMembers: () => [] });
  return policy.allowSoft
    ? { ...AS_IT_WAS, worse: worseThan(plan, context) }
    : { ...AS_IT_WAS, dropped: noLongerTaken(plan, policy, context) };
};

/**
 * Why a process that ignored TERM is not killed: it is in use by now. What merely works does so because
 * it was told to end, and what is no longer proven has lost its proof with the rest of its tree.
 */
export const whyNotKilled = (p: JudgedProcess): string | null => {
  if (p.protection !== null) return p.protectedBecause ?? 'it is protected';
  if (p.verdict === 'live') return `it is live: ${p.why[0] ?? 'in use'}`;
  return p.doubt === undefined || p.doubt.atWork ? null : p.doubt.why;
};

const stillThere = (step: { readonly pid: number; readonly start: string }, { family }: PlanContext) => {
  const now = family.byKey.get(keyOf(step));
  return now === undefined || isZombie(now.facts) ? null : now;
};

const noLongerTaken = (
  plan: Plan,
  policy: EndPolicy,
  context: PlanContext,
): ReadonlyMap<IdentityKey, string> => {
  const unfit = unfitSnapshot(context.snapshot, context.family);
  // What was old enough for the plan is older now.
  const anyAge: EndPolicy = { ...policy, minimumAgeSeconds: 0 };
  const known = new Map<JudgedProcess, string | null>();
  const whyNot = (target: JudgedProcess): string | null => {
    if (!known.has(target)) {
      const own = policyFor(target.facts, anyAge);
      const branch = endableTree(target, context, own);
      known.set(target, unfit ?? (branch.taken ? targetReason(target, own) : branch.why));
    }
    return known.get(target) ?? null;
  };
  const dropped = new Map<IdentityKey, string>();
  for (const step of plan.steps) {
    const now = stillThere(step, context);
    if (now === null) continue;
    const root = stillThere(step.root, context);
    const why = root === null ? whyNot(now) : (whyNot(root) ?? whyStrayStays(now, root, context, anyAge));
    if (why !== null) dropped.set(keyOf(step), `judged again before the first signal: ${why}`);
  }
  return dropped;
};

/** What left its target's subtree stays or goes by itself. */
const whyStrayStays = (
  p: JudgedProcess,
  root: JudgedProcess,
  context: PlanContext,
  policy: EndPolicy,
): string | null => {
  if (context.family.subtreeOf(root).includes(p)) return null;
  const branch = endableTree(p, context, policy);
  return branch.taken ? null : branch.why;
};

const worseThan = (plan: Plan, context: PlanContext): readonly string[] =>
  plan.steps.flatMap(step => {
    const now = stillThere(step, context);
    const why = now === null ? null : whyWorse(step, now);
    return why === null ? [] : [why];
  });

const whyWorse = ({ subject, confirm }: Step, now: JudgedProcess): string | null => {
  if (now.protection !== null && !confirm)
    return `${label(now)} is protected now: ${now.protectedBecause ?? now.why[0] ?? ''}`;
  if (subject === undefined || LOSSES.indexOf(now.verdict) <= LOSSES.indexOf(subject.verdict)) return null;
  return `${label(now)} was ${subject.verdict} and is ${now.verdict} now: ${now.why[0] ?? ''}`;
};

/** What is left of a plan after a second look, and why the rest is not done. */
export interface RecheckedSweep {
  /** By agent: nothing of it is touched. */
  readonly agents: ReadonlyMap<string, string>;
  /** By path, for files that belong to no agent. */
  readonly files: ReadonlyMap<string, string>;
  readonly ending: Plan;
  /** The agent of every process that is to end. */
  readonly owners: ReadonlyMap<string, string>;
}

const sessionKey = ({ socket, sessionId, session }: SweepPlan['sessions'][number]): string =>
  `${socket} ${sessionId} ${session}`;

/**
 * A plan was made a while ago, and a person may have read it since. Only what would be planned again is
 * done: whatever spoke against an act then speaks against it now, by the same rules.
 */
export const recheckSweep = (plan: SweepPlan, fresh: SweepPlan): RecheckedSweep => {
  const agents = new Map<string, string>();
  const leave = (agent: string, why: string): void => {
    const told = fresh.refused.find(({ what }) => what === `agent ${agent}`)?.why;
    if (!agents.has(agent)) agents.set(agent, told ?? why);
  };
  const sessions = new Set(fresh.sessions.map(sessionKey));
  for (const act of plan.sessions)
    if (!sessions.has(sessionKey(act))) leave(act.agent, `${act.session} is not the session it was`);
  const paths = new Set(fresh.files.map(act => act.path));
  const files = new Map<string, string>();
  for (const { path, agent } of plan.files) {
    if (paths.has(path)) continue;
    if (agent !== null) leave(agent, `${path} changed after the plan was made`);
    else files.set(path, 'it is no longer what was planned for');
  }
  const owners = new Map(plan.sessions.flatMap(act => act.processes.map(key => [key, act.agent] as const)));
  const known = new Set(plan.ending.steps.map(step => keyOf(step)));
  for (const act of fresh.sessions)
    if (act.processes.some(key => !known.has(key)))
      leave(act.agent, `something started in ${act.session} after the plan was made`);
  const steps = plan.ending.steps.filter(step => !agents.has(owners.get(keyOf(step)) ?? ''));
  return { agents, files, owners, ending: { ...plan.ending, steps } };
};
