import type { JudgedMoment } from '../judge/judge.ts';
import { planSweep } from '../judge/plan/sweep.ts';
import type { SweepFacts } from '../judge/plan/sweep-facts.ts';
import type { SweepPlan } from '../judge/plan/sweep-plan.ts';
import type { Collector } from './collector.ts';

/** What `sweep` would do at a moment: a person's and guard's are planned alike. */
export const sweepPlanner =
  (
    { lineage }: Collector,
    facts: SweepFacts,
    retentionDays: number,
    stillSeconds?: number,
  ): ((moment: JudgedMoment) => SweepPlan) =>
  moment =>
    planSweep({
      snapshot: moment,
      lineageMembers: target => lineage.membersOf(target),
      files: moment.files,
      facts,
      retentionDays,
      stillSeconds,
    });
