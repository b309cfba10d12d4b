import { planClean } from '../judge/plan/clean.ts';
import { leakPolicy, type PlanInput, planContext } from '../judge/plan/compose.ts';
import { planEnd } from '../judge/plan/end.ts';
import { planBuilds } from '../judge/plan/fix.ts';
import { freeStep, planFreeCall } from '../judge/plan/free-call.ts';
import { planSleep } from '../judge/plan/sleep.ts';
import { planZombies } from '../judge/plan/zombies.ts';
import type { Sightings } from '../judge/seen-twice.ts';
import type { Config, GuardPolicy } from '../model/config.ts';
import type { Finding, FindingId } from '../model/finding.ts';
import { type Identity, type IdentityKey, keyOf } from '../model/identity.ts';
import { EMPTY_PLAN, type EndPolicy, type Plan, type Refusal, type Step } from '../model/plan.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../model/snapshot.ts';
import { PRESSED_IDLE_SECONDS } from './pressure.ts';

/** Lines of the policy that end processes; the others are about files and sessions (`sweep`). */
export const ENDING = [
  'leaks',
  'zombieServers',
  'overMemory',
  'sleepIdle',
  'sleepUnderPressure',
  'idleAgents',
  'builds',
  'hungCalls',
] as const satisfies readonly (keyof GuardPolicy)[];
export type Ending = (typeof ENDING)[number];

export interface GuardAct {
  readonly what: Ending;
  readonly plan: Plan;
}

export interface GuardGround extends PlanInput {
  /** Judged just now, with every process in it. */
  readonly snapshot: Snapshot;
  readonly config: Config;
  readonly sightings: Sightings;
  readonly warned: Warned;
  /** Seconds of the clock that sightings and warnings were noted by. */
  readonly at: number;
  /** Roots that may still be ended within this hour. */
  readonly left: number;
  /** Calls whose server was ended already: each is ended for once. */
  readonly freed: ReadonlySet<string>;
  /** The session that is to sleep because memory is short; null: none, or its warning is too young. */
  readonly pressed: Identity | null;
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

const planWarned = (context: GuardGround, id: WarnedFinding): Plan => {
  const { warned, snapshot, at, config } = context;
  const due = warned.due(snapshot, [id], config.policy.warnSeconds, at);
  if (due.length === 0) return EMPTY_PLAN;
  return planEnd({ ...context, targets: due.map(({ agent }) => identityOf(agent)), policy: askedFor(0) });
};

/** Idle sessions whose warning is old enough; what may not sleep stays as it is. */
const planSleepIdle = (context: GuardGround): Plan => {
  const { warned, snapshot, at, config } = context;
  const due = warned.due(snapshot, ['idle-agent'], config.policy.warnSeconds, at);
  if (due.length === 0) return EMPTY_PLAN;
  const minimumIdleSeconds = config.thresholds['idle-agent'].seconds;
  const targets = due.map(({ agent }) => identityOf(agent));
  return planSleep({ ...context, by: 'guard', targets, minimumIdleSeconds });
};

/** The servers that critical calls wait for, by name; a server that is only the likeliest one stays. */
const planHungCalls = (ground: GuardGround): Plan => {
  const context = planContext(ground);
  const plans = ground.snapshot.findings
    .filter(({ id, severity, action }) => id === 'call-hung' && severity === 'critical' && action !== null)
    .map(finding => planFreeCall({ finding, context, policy: askedFor(0), way: 'end' }))
    .filter(({ frees = [] }) => frees.every(({ calls }) => calls.every(id => !ground.freed.has(id))));
  const steps = new Map(plans.flatMap(plan => plan.steps).map(step => [keyOf(step), step]));
  return {
    ...EMPTY_PLAN,
    steps: [...steps.values()],
    bytes: bytesOf([...steps.values()]),
    frees: plans.flatMap(({ frees = [] }) => frees),
    policy: askedFor(0),
  };
};

const PLANNERS = {
  leaks: context => {
    const { minimumAgeSeconds, sightingSeconds } = context.config.policy;
    const snapshot = context.sightings.confirm(context.snapshot, sightingSeconds, context.at);
    return planClean({ ...context, snapshot, policy: leakPolicy('guard', { minimumAgeSeconds }) });
  },
  zombieServers: context => {
    const { minimumAgeSeconds, quietSeconds } = context.config.thresholds.zombie;
    const plan = planZombies({ ...context, by: 'guard', minimumAgeSeconds, quietSeconds });
    // A parent that may only be nudged would be nudged forever.
    const ended = new Set(plan.steps.filter(step => step.signal !== 'SIGCHLD').map(step => keyOf(step.root)));
    return withRoots(plan, root => ended.has(root));
  },
  overMemory: context => planWarned(context, 'over-memory'),
  sleepIdle: planSleepIdle,
  sleepUnderPressure: context =>
    context.pressed === null
      ? EMPTY_PLAN
      : planSleep({
          ...context,
          by: 'guard',
          targets: [context.pressed],
          minimumIdleSeconds: PRESSED_IDLE_SECONDS,
        }),
  idleAgents: context => planWarned(context, 'idle-agent'),
  builds: context =>
    planBuilds({
      ...context,
      policy: askedFor(context.config.policy.minimumAgeSeconds),
      keep: context.config.thresholds['concurrent-builds'].criticalCount,
    }),
  hungCalls: planHungCalls,
} as const satisfies Record<Ending, (context: GuardGround) => Plan>;

/** Only calls whose server is among the steps, whatever the budget left of those. */
const withFreed = (plan: Plan): Plan => {
  if (plan.frees === undefined) return plan;
  const roots = new Set(rootsOf(plan));
  const frees = plan.frees.filter(({ server }) => server !== null && roots.has(keyOf(server)));
  return { ...plan, frees, otherSteps: frees.map(freeStep) };
};

/** Only sessions whose agent is among the steps. */
const withSlept = (plan: Plan): Plan => {
  if (plan.sleep === undefined) return plan;
  const roots = new Set(rootsOf(plan));
  const kept = plan.sleep.sessions.map(({ agent }) => roots.has(keyOf(agent)));
  return {
    ...plan,
    otherSteps: plan.otherSteps?.filter((_, at) => kept[at]),
    sleep: { ...plan.sleep, sessions: plan.sleep.sessions.filter((_, at) => kept[at]) },
  };
};

const withRoots = (plan: Plan, wanted: (root: IdentityKey) => boolean): Plan => {
  const steps = plan.steps.filter(step => wanted(keyOf(step.root)));
  return { ...plan, steps, bytes: steps.reduce((sum, step) => sum + step.rss, 0) };
};

/** What guard would end now: never more than the planners of `clean`, `z` and `f` would, by the switches of the config. */
export const planGuard = (context: GuardGround): GuardPlan => {
  const acts: GuardAct[] = [];
  const waiting: Refusal[] = [];
  const taken = new Set<IdentityKey>();
  let left = context.left;
  for (const what of ENDING) {
    if (!context.config.policy[what]) continue;
    const planned = PLANNERS[what](context);
    const cut = new Set(planned.steps.filter(step => taken.has(keyOf(step))).map(step => keyOf(step.root)));
    const wanted = withRoots(planned, root => !context.resting.has(root) && !cut.has(root));
    const { plan, waiting: more } = withinBudget(wanted, left);
    left -= rootsOf(plan).length;
    waiting.push(...more);
    for (const step of plan.steps) taken.add(keyOf(step));
    if (plan.steps.length > 0) acts.push({ what, plan: withSlept(withFreed(plan)) });
  }
  return { acts, waiting };
};

const HOUR_SECONDS = 3600;

/** Roots ended within the last hour. Counted when asked for, not when they succeed: a plan that fails again and again costs too. */
export class Budget {
  readonly #perHour: number;
  #spent: readonly { readonly at: number; readonly roots: number }[] = [];

  constructor(perHour: number) {
    this.#perHour = perHour;
  }

  spend(roots: number, at: number): void {
    if (roots > 0) this.#spent = [...this.#spent, { at, roots }];
  }

  /** What the clock says is still to come was spent all the same. */
  spentAt(at: number): number {
    this.#spent = this.#spent.filter(entry => at - entry.at < HOUR_SECONDS);
    return this.#spent.reduce((sum, { roots }) => sum + roots, 0);
  }

  left(at: number): number {
    return Math.max(0, this.#perHour - this.spentAt(at));
  }
}

export const rootsOf = (plan: Plan): readonly IdentityKey[] => [
  ...new Set(plan.steps.map(step => keyOf(step.root))),
];

const bytesOf = (steps: readonly Step[]): number => steps.reduce((sum, step) => sum + step.rss, 0);

/** As many whole trees as may still be ended, oldest process first; a tree is never cut. */
const withinBudget = (
  plan: Plan,
  left: number,
): { readonly plan: Plan; readonly waiting: readonly Refusal[] } => {
  const age = new Map(plan.steps.map(step => [keyOf(step), step.ageSeconds ?? 0]));
  const roots = [...rootsOf(plan)].sort((a, b) => (age.get(b) ?? 0) - (age.get(a) ?? 0));
  const taken = new Set(roots.slice(0, left));
  if (taken.size === roots.length) return { plan, waiting: [] };
  const steps = plan.steps.filter(step => taken.has(keyOf(step.root)));
  const waiting = plan.steps
    .filter(step => !taken.has(keyOf(step.root)))
    .map(({ pid, start, name }) => ({
      pid,
      start,
      name,
      why: 'the hourly limit of ended trees is reached',
    }));
  return { plan: { ...plan, steps, bytes: bytesOf(steps) }, waiting };
};

/** Findings about agents that the config may let guard act on, after a warning. */
export type WarnedFinding = Extract<FindingId, 'over-memory' | 'idle-agent'>;

/** Those that the config lets guard act on. */
export const warnedBy = ({
  overMemory,
  idleAgents,
  sleepIdle,
}: Config['policy']): readonly WarnedFinding[] => [
  ...(overMemory ? (['over-memory'] as const) : []),
  ...(idleAgents || sleepIdle ? (['idle-agent'] as const) : []),
];

export interface Warning {
  readonly id: WarnedFinding;
  readonly agent: JudgedProcess;
  readonly title: string;
}

/** Since when each agent has been warned without a look in which the finding was gone. */
export class Warned {
  #since: ReadonlyMap<string, number> = new Map();

  /** Takes the findings of a look; returns who is warned for the first time. */
  note(snapshot: Snapshot, ids: readonly WarnedFinding[], at: number): readonly Warning[] {
    const before = this.#since;
    const now = warningsIn(snapshot, ids);
    this.#since = new Map(now.map(warning => [nameOf(warning), before.get(nameOf(warning)) ?? at]));
    return now.filter(warning => !before.has(nameOf(warning)));
  }

  /** Agents whose warning is that old, and still true. */
  due(snapshot: Snapshot, ids: readonly WarnedFinding[], seconds: number, at: number): readonly Warning[] {
    return warningsIn(snapshot, ids).filter(warning => {
      const since = this.#since.get(nameOf(warning));
      return since !== undefined && at - since >= seconds;
    });
  }

  forget(): void {
    this.#since = new Map();
  }
}

const nameOf = ({ id, agent }: Warning): string => `${id} ${keyOf(agent.facts)}`;

/** Only of agents: anything else that is large or idle is the user's work. */
const warningsIn = (snapshot: Snapshot, ids: readonly WarnedFinding[]): readonly Warning[] => {
  const agents = new Map<IdentityKey, JudgedProcess>(
    snapshot.processes.filter(p => p.isSession).map(p => [keyOf(p.facts), p]),
  );
  return snapshot.findings.flatMap((finding: Finding) => {
    const id = ids.find(one => one === finding.id);
    const agent = finding.processes.map(identity => agents.get(keyOf(identity))).find(p => p !== undefined);
    return id === undefined || agent === undefined ? [] : [{ id, agent, title: finding.title }];
  });
};
