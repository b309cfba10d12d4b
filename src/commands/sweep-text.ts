import { relative } from 'node:path';
import type { SessionRecord, SweepResult } from '../act/sweep/run.ts';
import type { JudgedMoment } from '../judge/judge.ts';
import type { FileAct, SweepPlan } from '../judge/plan/sweep-plan.ts';
import { plural, spellBytes } from '../model/format.ts';
import { shellPath } from '../model/shell.ts';
import { cells, cut } from '../model/text.ts';
import { summarise } from '../words/outcomes.ts';
import { LEFT_ALONE, planHeading } from '../words/plan.ts';
import { currentDirectory } from './current-directory.ts';
import { painter } from './paint.ts';
import { outcomeLine, planText } from './plan-text.ts';

import type { SweepOptions } from './sweep-options.ts';

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
export const describe = (
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
  const refused = left.length === 0 ? '' : `${LEFT_ALONE}\n${left.join('')}`;
  if (empty)
    return `${warnings.join('')}${refused}Nothing to do: no finished agent left anything below the roots.\n`;
  const heading = planHeading(acts, options.dryRun);
  const lines = [
    ...plan.sessions.map(({ session, why }) =>
      cut(`  ${acts ? 'end' : 'would end'} tmux session ${session}: ${why}`, width),
    ),
    ...plan.files.map(({ act, path, why }) => withPath(`  ${act.padEnd(7)} `, path, why, width)),
  ];
  const total = `${plural(plan.files.length, 'file')}: ${spellBytes(plan.archivedBytes)} to archives, ${spellBytes(plan.freedBytes)} freed.\n`;
  const closing = acts ? '' : 'Nothing was touched. Run it with --force.\n';
  return `${warnings.join('')}${planText(plan.ending, { ...options, heading, snapshot: moment })}${lines.map(line => `${line}\n`).join('')}${refused}${total}${closing}`;
};

/** A session ends by itself with its last process. */
const isOver = ({ outcome }: SessionRecord): boolean => outcome === 'ended' || outcome === 'gone';

/** What became of it. */
export const reportText = (
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
