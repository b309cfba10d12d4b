import { type Outcome, type Plan, planRest } from '../model/plan.ts';

export { snapshotJson } from '../model/snapshot-json.ts';

export const planJson = (plan: Plan) => ({
  steps: plan.steps.map(({ pid, start, name, signal, rss, pss, why }) => ({
    ...{ pid, start, name, signal, rss },
    pss: pss ?? null,
    why,
  })),
  ...planRest(plan),
});

export const outcomesJson = (outcomes: readonly Outcome[]) =>
  outcomes.map(({ pid, start, name, outcome, why, freed }) => ({ pid, start, name, outcome, why, freed }));
