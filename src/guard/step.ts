import type { Collector } from '../collect/collector.ts';
import type { JudgedMoment } from '../judge/judge.ts';
import type { Config } from '../model/config.ts';
import type { FindingId } from '../model/finding.ts';
import { keyOf } from '../model/identity.ts';
import type { Outcome } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { type Account, endingText, sweepText } from './account.ts';
import { type ActingGround, carryOut } from './acting.ts';
import { type Budget, rootsOf } from './budget.ts';
import { type GuardAct, planGuard } from './policy.ts';
import type { Sightings } from './sightings.ts';
import { mayNeedSweep, type SweepSightings, sweepOnce } from './sweeping.ts';
import { type Warned, warnedBy } from './warned.ts';

/** Guard, as far as a step needs it. */
export interface ActingGuard {
  readonly options: {
    readonly collector: Collector;
    readonly config: Config;
    readonly abort: AbortSignal;
    readonly say: (line: string) => void;
    readonly onOutcomes?: (outcomes: readonly Outcome[]) => void;
  };
  readonly sightings: Sightings;
  readonly sweepSightings: SweepSightings;
  readonly warned: Warned;
  readonly budget: Budget;
  readonly account: Account;
  /** Processes that the budget keeps for later. */
  waiting: number;
  sweptAt: number;
  at(): number;
  wall(): number;
  warn(text: string | null): void;
  ground(boot: string | null): ActingGround;
}

/** A sweep looks at every file twice, a second apart. */
const SWEEP_SECONDS = 30;
/** Archives past their retention are no finding: looked for now and then. */
const RETENTION_SECONDS = 3600;

/** What the policy has to say about one look. */
export const actOn = async (guard: ActingGuard, moment: JudgedMoment): Promise<void> => {
  guard.waiting = 0;
  if (mayEnd(guard, moment)) await endByPolicy(guard);
  if (!guard.options.abort.aborted && maySweep(guard, moment)) await sweepByPolicy(guard, moment);
};

const says = ({ findings }: Snapshot, id: FindingId): boolean => findings.some(finding => finding.id === id);

/** Whether it is worth looking at every process of the machine to make a plan. */
const mayEnd = (guard: ActingGuard, moment: Snapshot): boolean => {
  const { policy } = guard.options.config;
  const at = guard.at();
  return (
    (policy.leaks && guard.sightings.anyFor(policy.sightingSeconds, at)) ||
    (policy.zombieServers && says(moment, 'zombie')) ||
    (policy.builds && says(moment, 'concurrent-builds')) ||
    guard.warned.due(moment, warnedBy(policy), policy.warnSeconds, at).length > 0
  );
};

const endByPolicy = async (guard: ActingGuard): Promise<void> => {
  const { collector, config, say } = guard.options;
  const fresh = await collector.collect({ all: true });
  guard.sightings.note(fresh, guard.at());
  const { acts, waiting } = planGuard({
    snapshot: fresh,
    lineageMembers: target => collector.lineage.membersOf(target),
    config,
    sightings: guard.sightings,
    warned: guard.warned,
    at: guard.at(),
    left: guard.budget.left(guard.at()),
    resting: guard.account.resting(guard.at()),
  });
  guard.waiting = waiting.length;
  if (waiting.length > 0)
    guard.warn(
      `${config.policy.endsPerHour} trees were ended within an hour: the rest is only reported (policy.endsPerHour)`,
    );
  for (const act of acts) {
    if (guard.options.abort.aborted) return;
    await endOne(guard, act, fresh, say);
  }
};

const endOne = async (
  guard: ActingGuard,
  act: GuardAct,
  { host }: Snapshot,
  say: (line: string) => void,
): Promise<void> => {
  const performed = await carryOut(act, guard.ground(host.bootId));
  // Somebody else cleans up just now: the next look sees what is left.
  if (performed.status === 'held') return;
  for (const warning of performed.warnings) guard.warn(warning);
  const { outcomes } = performed.deed;
  guard.options.onOutcomes?.(outcomes);
  guard.budget.spend(rootsOf(act.plan).length, guard.at());
  guard.account.take(
    outcomes,
    new Map(act.plan.steps.map(step => [keyOf(step), keyOf(step.root)])),
    guard.at(),
  );
  const text = endingText(act.what, outcomes);
  guard.account.note(text, guard.wall());
  say(text);
};

const maySweep = (guard: ActingGuard, moment: Snapshot): boolean => {
  const { policy } = guard.options.config;
  if (!policy.sweep && !policy.staleFiles) return false;
  const idle = guard.at() - guard.sweptAt;
  return (
    idle >= RETENTION_SECONDS ||
    (idle >= Math.min(SWEEP_SECONDS, policy.sightingSeconds) && mayNeedSweep(moment))
  );
};

const sweepByPolicy = async (guard: ActingGuard, moment: JudgedMoment): Promise<void> => {
  guard.sweptAt = guard.at();
  const performed = await sweepOnce(
    moment,
    guard.sweepSightings,
    () => guard.at(),
    guard.ground(moment.host.bootId),
  );
  if (performed === null || performed.status === 'held') return;
  for (const warning of [...performed.warnings, ...performed.deed.warnings]) guard.warn(warning);
  guard.options.onOutcomes?.(performed.deed.outcomes);
  guard.account.take(performed.deed.outcomes, new Map(), guard.at());
  const text = sweepText(performed.deed);
  guard.account.note(text, guard.wall());
  guard.options.say(text);
};
