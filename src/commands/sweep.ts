import { leftSomething } from '../act/left-something.ts';
import { completeEarlierActs, perform } from '../act/perform.ts';
import { gatherSweepFacts } from '../act/sweep/facts.ts';
import type { FileRecord } from '../act/sweep/file-acts.ts';
import { runSweep, type SweepResult } from '../act/sweep/run.ts';
import type { Collector } from '../collect/collector.ts';
import { sweepPlanner } from '../collect/sweep-planner.ts';
import { weigh } from '../collect/weigh.ts';
import type { JudgedMoment } from '../judge/judge.ts';
import { asPlan, type SweepPlan } from '../judge/plan/sweep-plan.ts';
import { showableJson } from '../model/text.ts';
import type { System } from '../observe/system.ts';
import { EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_SURVIVED } from './exit-codes.ts';
import { outcomesJson, planJson, snapshotJson } from './json.ts';
import { failOnCode } from './once.ts';
import { progressLine } from './progress-line.ts';
import type { SweepOptions } from './sweep-options.ts';
import { describe, reportText } from './sweep-text.ts';

export interface SweepDependencies {
  readonly collector: Collector;
  readonly system: System;
  readonly env: NodeJS.ProcessEnv;
  readonly out: { write(text: string): void };
  readonly err: { write(text: string): void; readonly isTTY?: boolean };
  readonly abort: AbortSignal;
}

/** What finished agents left: sessions, logs, prompts, locks. Shows the plan; with `--force` runs that very plan. */
export const sweep = async (dependencies: SweepDependencies, options: SweepOptions): Promise<number> => {
  const { collector, out, err, system } = dependencies;
  const facts = await gatherSweepFacts((await collector.collect({ all: true })).files);
  const look = () => collector.collect({ all: true });
  const planFor = sweepPlanner(collector, facts, options.retentionDays, options.stillSeconds);
  // The second look: how much CPU something uses is only known between two.
  const moment = await look();
  const planned = planFor(moment);
  const plan: SweepPlan = { ...planned, ending: await weigh(planned.ending, system) };
  const acts = options.force && !options.dryRun;
  const empty = plan.ending.steps.length + plan.sessions.length + plan.files.length === 0;
  if (!options.json) out.write(describe(plan, moment, acts, empty, options));
  if (!acts || empty) {
    if (acts) await completeEarlierActs(system, 'sweep', moment.host.bootId);
    if (options.json) writeJson(dependencies, moment, plan, null);
    return failOnCode(moment, options.failOn);
  }
  const performed = await perform({
    system,
    by: 'sweep',
    why: `sweep --force --retention ${options.retentionDays}`,
    plan: asPlan(plan),
    sessions: plan.sessions,
    boot: moment.host.bootId,
    run: () => run(plan, async () => planFor(await look()), options, dependencies),
  });
  if (performed.status === 'held') {
    err.write(`reaptop: nothing was touched: ${performed.why}\n`);
    return EXIT_FAILURE;
  }
  for (const warning of performed.warnings) err.write(`reaptop: ${warning}\n`);
  return report(plan, moment, performed.deed, options, dependencies);
};

const run = async (
  plan: SweepPlan,
  planAgain: () => Promise<SweepPlan>,
  options: SweepOptions,
  { collector, system, env, err, abort }: SweepDependencies,
): Promise<SweepResult> => {
  const progress = progressLine(err, plan.ending.steps.length);
  try {
    return await runSweep({
      plan,
      planAgain,
      system,
      env,
      snapshotAgain: () => collector.collect({ all: true, fresh: true }),
      graceMs: options.graceSeconds * 1000,
      signal: abort,
      onProgress: progress.show,
    });
  } finally {
    progress.clear();
  }
};

const failed = (record: FileRecord): boolean => record.outcome === 'failed';

const report = (
  plan: SweepPlan,
  moment: JudgedMoment,
  result: SweepResult,
  options: SweepOptions,
  dependencies: SweepDependencies,
): number => {
  const { out, err, abort } = dependencies;
  const { outcomes, files } = result;
  for (const text of result.warnings) err.write(`reaptop: ${text}\n`);
  if (options.json) writeJson(dependencies, moment, plan, result);
  else out.write(reportText(result, options));
  if (abort.aborted) return EXIT_INTERRUPTED;
  return leftSomething(outcomes) || files.some(failed) ? EXIT_SURVIVED : 0;
};

const writeJson = (
  { out }: SweepDependencies,
  moment: JudgedMoment,
  plan: SweepPlan,
  result: SweepResult | null,
): void => {
  const shown = { ...moment, processes: moment.processes.filter(p => p.related) };
  const document = {
    ...snapshotJson(shown),
    plan: {
      ...planJson(asPlan(plan)),
      acts: plan.files.map(({ act, path, to, bytes, why }) => ({ act, path, to, bytes, why })),
      leftAlone: plan.refused,
    },
    outcomes: outcomesJson(result?.outcomes ?? []),
    sessions: result?.sessions ?? [],
    files: result?.files ?? [],
  };
  out.write(`${showableJson(JSON.stringify(document, null, 2))}\n`);
};
