import { relative } from 'node:path';
import { leftSomething } from '../act/execute.ts';
import type { SessionRecord, SweepResult } from '../act/sweep/execute-sweep.ts';
import type { FileRecord } from '../act/sweep/file-acts.ts';
import { scannedFiles } from '../engine/agent-files.ts';
import { engineOf } from '../engine/engine.ts';
import type { Prepared } from '../engine/prepare.ts';
import type { JudgedSnapshot } from '../judge/judge.ts';
import { asPlan, type FileAct, type SweepPlan } from '../judge/plan/sweep-plan.ts';
import type { Severity } from '../model/finding.ts';
import { LEFT_ALONE, planHeading, summarise } from '../model/plan-text.ts';
import { shellPath } from '../model/shell.ts';
import { snapshotJson } from '../model/snapshot-json.ts';
import { cells, cut, showableJson } from '../model/text.ts';
import { plural, spellBytes } from '../model/units.ts';
import { EXIT_FAILURE, EXIT_INTERRUPTED, EXIT_SURVIVED, painter } from '../output.ts';
import { failOnCode } from './once.ts';
import { executeShown, outcomeLine, outcomesJson, planJson, planText } from './plan-text.ts';
import { currentDirectory } from './prepared.ts';

export interface SweepDependencies {
  readonly prepared: Prepared;
  readonly out: { write(text: string): void };
  readonly err: { write(text: string): void; readonly isTTY?: boolean };
  readonly abort: AbortSignal;
}

/** What finished agents left: sessions, logs, prompts, locks. Shows the plan; with `--force` runs that very plan. */
export const sweep = async (dependencies: SweepDependencies, options: SweepOptions): Promise<number> => {
  const { prepared, out, err, abort } = dependencies;
  // A stream that grows may be the only sign that an agent is at work.
  const engine = engineOf(prepared, scannedFiles(prepared.config));
  const {
    moment,
    sweep: planned,
    plan,
  } = await engine.planSweep({
    retentionDays: options.retentionDays,
    stillSeconds: options.stillSeconds,
  });
  const acts = options.force && !options.dryRun;
  const empty = planned.ending.steps.length + planned.sessions.length + planned.files.length === 0;
  if (!options.json) out.write(describe(planned, moment, acts, empty, options));
  if (!acts || empty) {
    if (acts) await engine.completeEarlierActs('sweep');
    if (options.json) writeJson(dependencies, moment, planned, null);
    return failOnCode(moment, options.failOn);
  }
  const result = await executeShown(engine, plan, err, {
    by: 'sweep',
    why: `sweep --force --retention ${options.retentionDays}`,
    signal: abort,
    graceSeconds: options.graceSeconds,
  });
  if (result.status === 'held') {
    err.write(`reaptop: nothing was touched: ${result.why}\n`);
    return EXIT_FAILURE;
  }
  for (const warning of result.warnings) err.write(`reaptop: ${warning}\n`);
  const { sweep: done } = result.execution;
  if (done === undefined) throw new Error('a sweep was executed as something else');
  return report(planned, moment, done, options, dependencies);
};

const failed = (record: FileRecord): boolean => record.outcome === 'failed';

const report = (
  plan: SweepPlan,
  moment: JudgedSnapshot,
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
  moment: JudgedSnapshot,
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

export interface SweepOptions {
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly retentionDays: number;
  readonly stillSeconds: number;
  readonly graceSeconds: number;
  readonly verbose: boolean;
  readonly json: boolean;
  readonly failOn: Severity | null;
  readonly width: number;
  readonly color: boolean;
}

/** A path as it can be pasted into the shell we were started from. */
const fromHere = (path: string): string => {
  const here = relative(currentDirectory(), path);
  return shellPath(here.startsWith('..') || here === '' ? path : here);
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

/** The plan as it is read before anything happens, and what to do next. */
const describe = (
  plan: SweepPlan,
  moment: JudgedSnapshot,
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
  const refused = left.length === 0 ? '' : `${LEFT_ALONE}\n${left.join('')}`;
  if (empty)
    return `${warnings.join('')}${refused}Nothing to sweep: no finished agent left a file or a tmux session.\n`;
  const heading = planHeading(acts, options.dryRun);
  const lines = [
    ...plan.sessions.map(({ session, why }) =>
      cut(`  ${acts ? 'end' : 'would end'} tmux session ${session}: ${why}`, width),
    ),
    ...plan.files.map(({ act, path, why }) => withPath(`  ${act.padEnd(7)} `, path, why, width)),
  ];
  const total = `${plural(plan.files.length, 'file')}: ${spellBytes(plan.archivedBytes)} to archives, ${spellBytes(plan.freedBytes)} freed.\n`;
  const closing = acts ? '' : 'Nothing was touched. To run it: reaptop sweep --force\n';
  return `${warnings.join('')}${planText(plan.ending, { ...options, heading, snapshot: moment })}${lines.map(line => `${line}\n`).join('')}${refused}${total}${closing}`;
};

/** A session ends by itself with its last process. */
const isOver = ({ outcome }: SessionRecord): boolean => outcome === 'ended' || outcome === 'gone';

/** What became of it. */
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
