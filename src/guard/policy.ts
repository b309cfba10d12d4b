import type { PlanGround } from '../judge/plan/branches.ts';
import {
  type EndPolicy,
  leakPolicy,
  planBuilds,
  planClean,
  planEnd,
  planZombies,
} from '../judge/plan/index.ts';
import type { Config, GuardPolicy } from '../model/config.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import { EMPTY_PLAN, type Plan, type Refusal } from '../model/plan.ts';
import { identityOf, type Snapshot } from '../model/snapshot.ts';
import { rootsOf, withinBudget } from './budget.ts';
import type { Sightings } from './sightings.ts';
import type { Warned, WarnedFinding } from './warned.ts';

/** Lines of the policy that end processes; the others are about files and sessions (`sweep`). */
export const ENDING = [
  'leaks',
  'zombieServers',
  'overMemory',
  'idleAgents',
  'builds',
] as const satisfies readonly (keyof GuardPolicy)[];
export type Ending = (typeof ENDING)[number];

export interface GuardAct {
  readonly what: Ending;
  readonly plan: Plan;
}

export interface GuardGround extends PlanGround {
  /** Judged just now, with every process in it. */
  readonly snapshot: Snapshot;
  readonly config: Config;
  readonly sightings: Sightings;
  readonly warned: Warned;
  /** Seconds of the clock that sightings and warnings were noted by. */
  readonly at: number;
  /** Roots that may still be ended within this hour. */
  readonly left: number;
  /** Roots that an act left running a short while ago. */
  readonly resting: ReadonlySet<IdentityKey>;
}

export interface GuardPlan {
  /** In the order they are done; together within the budget. */
  readonly acts: readonly GuardAct[];
  /** What the budget keeps for later. */
  readonly waiting: readonly Refusal[];
}

/** A live agent, or one of too many builds: what only the config can ask for. Nothing protected, as ever. */
const askedFor = (minimumAgeSeconds: number): EndPolicy => ({
  by: 'guard',
  signal: 'SIGTERM',
  verdicts: ['live', 'suspect', 'leak'],
  allowSoft: false,
  minimumAgeSeconds,
});

const planWarned = (ground: GuardGround, id: WarnedFinding): Plan => {
  const { warned, snapshot, at, config } = ground;
  const due = warned.due(snapshot, [id], config.policy.warnSeconds, at);
  if (due.length === 0) return EMPTY_PLAN;
  return planEnd({ ...ground, targets: due.map(({ agent }) => identityOf(agent)), policy: askedFor(0) });
};

const PLANNERS = {
  leaks: ground => {
    const { minimumAgeSeconds, sightingSeconds } = ground.config.policy;
    const snapshot = ground.sightings.confirm(ground.snapshot, sightingSeconds, ground.at);
    return planClean({ ...ground, snapshot, policy: leakPolicy('guard', { minimumAgeSeconds }) });
  },
  zombieServers: ground => {
    const { minimumAgeSeconds, quietSeconds } = ground.config.thresholds.zombie;
    const plan = planZombies({ ...ground, by: 'guard', minimumAgeSeconds, quietSeconds });
    // A parent that may only be nudged would be nudged for ever.
    const ended = new Set(plan.steps.filter(step => step.signal !== 'SIGCHLD').map(step => keyOf(step.root)));
    return withRoots(plan, root => ended.has(root));
  },
  overMemory: ground => planWarned(ground, 'over-memory'),
  idleAgents: ground => planWarned(ground, 'idle-agent'),
  builds: ground =>
    planBuilds({
      ...ground,
      policy: askedFor(ground.config.policy.minimumAgeSeconds),
      keep: ground.config.thresholds['concurrent-builds'].criticalCount,
    }),
} as const satisfies Record<Ending, (ground: GuardGround) => Plan>;

const withRoots = (plan: Plan, wanted: (root: IdentityKey) => boolean): Plan => {
  const steps = plan.steps.filter(step => wanted(keyOf(step.root)));
  return { ...plan, steps, bytes: steps.reduce((sum, step) => sum + step.rss, 0) };
};

/** What guard would end now: never more than the planners of `clean`, `z` and `f` would, by the switches of the config. */
export const planGuard = (ground: GuardGround): GuardPlan => {
  const acts: GuardAct[] = [];
  const waiting: Refusal[] = [];
  const taken = new Set<IdentityKey>();
  let left = ground.left;
  for (const what of ENDING) {
    if (!ground.config.policy[what]) continue;
    const planned = PLANNERS[what](ground);
    const cut = new Set(planned.steps.filter(step => taken.has(keyOf(step))).map(step => keyOf(step.root)));
    const wanted = withRoots(planned, root => !ground.resting.has(root) && !cut.has(root));
    const { plan, waiting: more } = withinBudget(wanted, left);
    left -= rootsOf(plan).length;
    waiting.push(...more);
    for (const step of plan.steps) taken.add(keyOf(step));
    if (plan.steps.length > 0) acts.push({ what, plan });
  }
  return { acts, waiting };
};
