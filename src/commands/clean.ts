import { leftSomething } from '../act/left-something.ts';
import { completeEarlierActs, perform } from '../act/perform.ts';
import { type TerminateResult, terminate } from '../act/terminate/terminate.ts';
import { endZombies } from '../act/zombies/nudge.ts';
import type { Collector } from '../collect/collector.ts';
import { sampleTwice } from '../collect/sample-twice.ts';
import { weigh } from '../collect/weigh.ts';
import type { AskedBy, PlanGround } from '../judge/plan/index.ts';
import { leakPolicy, planClean, planZombies } from '../judge/plan/index.ts';
import type { Config } from '../model/config.ts';
import type { Plan } from '../model/plan.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { showableJson } from '../model/text.ts';
import type { System } from '../observe/system.ts';
import { summarise } from '../words/outcomes.ts';
import type { CleanOptions } from './clean-options.ts';
import { describePlan } from './clean-text.ts';
import { EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_SURVIVED } from './exit-codes.ts';
import { outcomesJson, planJson, snapshotJson } from './json.ts';
import { failOnCode } from './once.ts';
import { painter } from './paint.ts';
import { outcomeLine } from './plan-text.ts';
import { progressLine } from './progress-line.ts';

export interface CleanDependencies {
  readonly collector: Collector;
  readonly system: System;
  readonly config: Config;
  readonly out: { write(text: string): void; readonly isTTY?: boolean };
  readonly err: { write(text: string): void; readonly isTTY?: boolean };
  /** Aborted by Ctrl-C: what was begun is finished step by step, nothing new is signalled. */
  readonly abort: AbortSignal;
}

const BY: AskedBy = 'clean';

/** Headless clean-up: shows the plan, and with `--force` runs that very plan and reports what it verified. */
export const clean = async (dependencies: CleanDependencies, options: CleanOptions): Promise<number> => {
  const { collector, out } = dependencies;
  const snapshot = await sampleTwice(collector);
  const lineageMembers = (target: string) => collector.lineage.membersOf(target);
  const plan = await weigh(planFor(options, dependencies, { snapshot, lineageMembers }), dependencies.system);
  const acts = options.force && !options.dryRun;
  if (!options.json) out.write(describePlan(plan, snapshot, acts, options));
  if (!acts || plan.steps.length === 0) {
    if (acts) await completeEarlierActs(dependencies.system, BY, snapshot.host.bootId);
    if (options.json) writeJson(dependencies, snapshot, plan, null);
    return failOnCode(snapshot, options.failOn);
  }
  const performed = await perform({
    system: dependencies.system,
    by: BY,
    why: askedFor(options),
    plan,
    boot: snapshot.host.bootId,
    run: () => run(plan, options, dependencies),
  });
  if (performed.status === 'held') {
    dependencies.err.write(`reaptop: nothing was signalled: ${performed.why}\n`);
    return EXIT_FAILURE;
  }
  for (const warning of performed.warnings) dependencies.err.write(`reaptop: ${warning}\n`);
  return report(plan, snapshot, performed, options, dependencies);
};

/** What the user asked for, for the record. */
const askedFor = (options: CleanOptions): string =>
  [
    'clean --force',
    `--age-threshold ${options.ageThresholdMinutes}`,
    ...(options.suspects ? ['--suspects'] : []),
    ...options.kinds.map(kind => `--kind ${kind}`),
    ...options.pids.map(({ pid }) => `--pid ${pid}`),
    ...(options.zombieParents ? ['--zombie-parents'] : []),
  ].join(' ');

const planFor = (options: CleanOptions, { config }: CleanDependencies, ground: PlanGround): Plan => {
  const minimumAgeSeconds = options.ageThresholdMinutes * 60;
  if (options.zombieParents) {
    const { quietSeconds } = config.thresholds.zombie;
    const targets = options.pids.length === 0 ? undefined : identitiesOf(options.pids, ground.snapshot);
    return planZombies({ ...ground, by: BY, minimumAgeSeconds, quietSeconds, targets });
  }
  return planClean({
    ...ground,
    policy: leakPolicy(BY, {
      suspects: options.suspects,
      minimumAgeSeconds: options.pids.length > 0 ? 0 : minimumAgeSeconds,
    }),
    kinds: options.kinds,
    pids: options.pids.length === 0 ? undefined : options.pids,
  });
};

const identitiesOf = (pids: CleanOptions['pids'], snapshot: Snapshot) =>
  snapshot.processes
    .filter(({ facts }) =>
      pids.some(({ pid, start }) => pid === facts.pid && (start === undefined || start === facts.start)),
    )
    .map(({ facts }) => ({ pid: facts.pid, start: facts.start }));

const run = async (
  plan: Plan,
  options: CleanOptions,
  dependencies: CleanDependencies,
): Promise<TerminateResult> => {
  const { collector, system, config, err, abort } = dependencies;
  const progress = progressLine(err, plan.steps.length);
  const common = {
    system,
    plan,
    graceMs: options.graceSeconds * 1000,
    signal: abort,
    onProgress: progress.show,
    snapshotAgain: () => collector.collect({ all: true, fresh: true }),
  };
  try {
    return options.zombieParents
      ? await endZombies({ ...common, quietSeconds: config.thresholds.zombie.quietSeconds })
      : await terminate(common);
  } finally {
    progress.clear();
  }
};

const report = (
  plan: Plan,
  snapshot: Snapshot,
  { deed: result, audited }: { readonly deed: TerminateResult; readonly audited: boolean },
  options: CleanOptions,
  dependencies: CleanDependencies,
): number => {
  const { out, err, abort } = dependencies;
  for (const text of result.warnings) err.write(`reaptop: ${text}\n`);
  if (options.json) writeJson(dependencies, snapshot, plan, result);
  else {
    const paint = painter(options.color);
    for (const outcome of result.outcomes) out.write(`${outcomeLine(outcome, options.width, paint)}\n`);
    if (options.verbose)
      out.write(
        `Took ${(result.durationMs / 1000).toFixed(1)} s; ${audited ? 'written to the audit log' : 'not in the audit log'}.\n`,
      );
    if (result.stopped !== null) out.write(`Stopped early: ${result.stopped}.\n`);
    out.write(`${summarise(result.outcomes)}\n`);
  }
  if (abort.aborted) return EXIT_INTERRUPTED;
  return leftSomething(result.outcomes) ? EXIT_SURVIVED : 0;
};

const writeJson = (
  { out }: CleanDependencies,
  snapshot: Snapshot,
  plan: Plan,
  result: TerminateResult | null,
): void => {
  const shown = { ...snapshot, processes: snapshot.processes.filter(p => p.related) };
  const document = {
    ...snapshotJson(shown),
    plan: planJson(plan),
    outcomes: outcomesJson(result?.outcomes ?? []),
  };
  out.write(`${showableJson(JSON.stringify(document, null, 2))}\n`);
};
