import { relative } from 'node:path';
import { leftSomething } from '../act/left-something.ts';
import { perform } from '../act/perform.ts';
import { gatherSweepFacts } from '../act/sweep/facts.ts';
import type { FileRecord } from '../act/sweep/file-acts.ts';
import { runSweep, type SessionRecord, type SweepResult } from '../act/sweep/run.ts';
import type { Collector } from '../collect/collector.ts';
import { sweepPlanner } from '../collect/sweep-planner.ts';
import { weigh } from '../collect/weigh.ts';
import type { JudgedMoment } from '../judge/judge.ts';
import { asPlan, type FileAct, type SweepPlan } from '../judge/plan/sweep-plan.ts';
import type { Severity } from '../model/finding.ts';
import { plural, spellBytes } from '../model/format.ts';
import { cells, cut, showableJson } from '../model/text.ts';
import type { System } from '../observe/system.ts';
import { summarise } from '../words/outcomes.ts';
import { currentDirectory } from './current-directory.ts';
import { EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_SURVIVED } from './exit-codes.ts';
import { outcomesJson, planJson, snapshotJson } from './json.ts';
import { failOnCode } from './once.ts';
import { painter } from './paint.ts';
import { outcomeLine, planText } from './plan-text.ts';
import { progressLine } from './progress-line.ts';
import { shellWord } from './shell-word.ts';

export interface SweepOptions {
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly retentionDays: number;
  readonly graceSeconds: number;
  readonly verbose: boolean;
  readonly json: boolean;
  readonly failOn: Severity | null;
  readonly width: number;
  readonly color: boolean;
}

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
  const planFor = sweepPlanner(collector, facts, options.retentionDays);
  // The second look: how much CPU something uses is only known between two.
  const moment = await look();
  const planned = planFor(moment);
  const plan: SweepPlan = { ...planned, ending: await weigh(planned.ending, system) };
  const acts = options.force && !options.dryRun;
  const empty = plan.ending.steps.length + plan.sessions.length + plan.files.length === 0;
  if (!options.json) out.write(describe(plan, moment, acts, empty, options));
  if (!acts || empty) {
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

/** A path as it can be pasted into the shell we were started from. */
const fromHere = (path: string): string => {
  const here = relative(currentDirectory(), path);
  return shellWord(here.startsWith('..') || here === '' ? path : here);
};

/** Less room than this for what is said of a path: it goes on a line of its own. */
const LEAST_ROOM = 20;

/** The path whole, however narrow the terminal is: half of one cannot be pasted. Only what is said of it is cut. */
const withPath = (before: string, path: string, said: string, width: number): string => {
  const head = `${before}${fromHere(path)}`;
  if (said === '') return head;
  const room = width - cells(head) - 2;
  return room >= LEAST_ROOM
    ? `${head}: ${cut(said, room)}`
    : `${head}\n${cut(`${' '.repeat(10)}${said}`, width)}`;
};

const describe = (
  plan: SweepPlan,
  moment: JudgedMoment,
  acts: boolean,
  empty: boolean,
  options: SweepOptions,
): string => {
  const { width } = options;
  const warnings = moment.warnings
    .filter(warning => !warning.startsWith('0 recognised'))
    .map(warning => `! ${warning}\n`);
  const left = plan.refused.map(
    ({ what, why }) =>
      `${what.startsWith('/') ? withPath('  ', what, why, width) : cut(`  ${what}: ${why}`, width)}\n`,
  );
  const refused = left.length === 0 ? '' : `Left alone:\n${left.join('')}`;
  if (empty)
    return `${warnings.join('')}${refused}Nothing to do: no finished agent left anything below the roots.\n`;
  const heading = acts ? 'Ending' : options.dryRun ? 'Dry run: would end' : 'Would end';
  const lines = [
    ...plan.sessions.map(({ session, why }) =>
      cut(`  ${acts ? 'end' : 'would end'} tmux session ${session}: ${why}`, width),
    ),
    ...plan.files.map(({ act, path, why }) => withPath(`  ${act.padEnd(7)} `, path, why, width)),
  ];
  const total = `${plural(plan.files.length, 'file')}: ${spellBytes(plan.archivedBytes)} to archives, ${spellBytes(plan.freedBytes)} given back.\n`;
  const closing = acts ? '' : 'Nothing was touched. Run with --force to do it.\n';
  return `${warnings.join('')}${planText(plan.ending, { ...options, heading })}${lines.map(line => `${line}\n`).join('')}${refused}${total}${closing}`;
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
      snapshotAgain: () => collector.collect({ all: true }),
      graceMs: options.graceSeconds * 1000,
      signal: abort,
      onProgress: progress.show,
    });
  } finally {
    progress.clear();
  }
};

/** A session ends by itself with its last process. */
const isOver = ({ outcome }: SessionRecord): boolean => outcome === 'ended' || outcome === 'gone';

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

const reportText = (
  { outcomes, sessions, files, archivedBytes, freedBytes, durationMs }: SweepResult,
  { width, color, verbose }: SweepOptions,
): string => {
  const paint = painter(color);
  const shownFiles = verbose
    ? files
    : files.filter(record => record.outcome === 'failed' || record.outcome === 'skipped');
  const lines = [
    ...outcomes.map(outcome => outcomeLine(outcome, width, paint)),
    ...sessions
      .filter(record => verbose || !isOver(record))
      .map(({ session, outcome, why }) =>
        cut(`tmux session ${session}: ${outcome}${why === '' ? '' : `, ${why}`}`, width),
      ),
    ...shownFiles.map(({ act, path, outcome, why }) =>
      withPath(`${outcome.padEnd(8)} ${act} `, path, why, width),
    ),
  ];
  const count = (act: FileAct['act']): number =>
    files.filter(record => record.act === act && record.outcome === 'done').length;
  const ended = sessions.filter(isOver).length;
  const parts = [
    outcomes.length > 0 ? summarise(outcomes) : null,
    ended > 0 ? plural(ended, 'session') : null,
    `${count('archive')} archived (${spellBytes(archivedBytes)})`,
    `${count('delete') + count('remove') + count('expire')} removed (${spellBytes(freedBytes)})`,
  ];
  if (verbose) lines.push(`Took ${(durationMs / 1000).toFixed(1)} s.`);
  return [...lines, parts.filter(part => part !== null).join(', ')].map(line => `${line}\n`).join('');
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
