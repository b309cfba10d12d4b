import type { Outcome, Plan } from '../model/plan.ts';

export { SCHEMA, snapshotJson } from '../model/snapshot-json.ts';

export const planJson = (plan: Plan) => ({
  steps: plan.steps.map(({ pid, start, name, signal, rss, pss, why }) => ({
    ...{ pid, start, name, signal, rss },
    pss: pss ?? null,
    why,
  })),
  refused: plan.refused.map(({ pid, start, name, why }) => ({ pid, start, name, why })),
  files: plan.files,
  bytes: plan.bytes,
});

export const outcomesJson = (outcomes: readonly Outcome[]) =>
  outcomes.map(({ pid, start, name, outcome, why, freed }) => ({ pid, start, name, outcome, why, freed }));
