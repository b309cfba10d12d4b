import { formatAge, formatBytes, plural } from '../../model/format.ts';
import { type Outcome, outcomeOf, type Plan, type Step, weightOf } from '../../model/plan.ts';
import { memoryOf } from '../../model/process.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import { shortSignal } from '../../words/signals.ts';
import { OUTCOME_TONES } from '../../words/tones.ts';
import { VERDICT_WORDS } from '../../words/verdict.ts';
import { wrap } from '../../words/wrap.ts';
import type { Tone } from '../look/theme.ts';
import { type Line, lineWidth, type Run, run, toWidth } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';

/** From here on the reason stands beside its process, below it goes on a row of its own. */
const WHY_BESIDE = 96;
const NAME = 26;

/** A nudge has no outcome of its own: what became of the zombies is said of each of them. */
const unknownOutcome = (s: Step): string => (s.signal === 'SIGCHLD' ? 'nudge' : '');

/** What it is now, for plans made without saying so, and for signals that give no memory back. */
const processOf = (s: Step, { snapshot }: Screen): JudgedProcess | undefined =>
  snapshot.processes.find(p => p.facts.pid === s.pid && p.facts.start === s.start);

/** The verdict in a column of its own: ending what is live must not look like ending a leak. */
const verdictRun = (s: Step, screen: Screen): Run => {
  const verdict = s.subject?.verdict ?? processOf(s, screen)?.verdict;
  return run(toWidth(verdict === undefined ? '' : VERDICT_WORDS[verdict], 5), verdict ?? 'plain');
};

/** What it gives back; for a signal that gives nothing back, what it holds. */
const memoryText = (s: Step, screen: Screen): string => {
  const held = processOf(s, screen);
  return formatBytes(s.rss > 0 || held === undefined ? weightOf(s) : memoryOf(held.facts));
};

/** Cells of a step before its name, and of what stands behind it. */
const BEFORE_NAME = 2 + 9 + 5 + 7 + 1;
const MEM = 5;
const AGE = 7;
const LEAST_NAME = 7;
const WHY_INDENT = 11;

/** On the smallest screen the age goes, whole: half of one tells nothing. */
const ageWidth = ({ layout }: Screen): number =>
  layout.columns >= BEFORE_NAME + LEAST_NAME + MEM + AGE ? AGE : 0;

const nameWidth = (screen: Screen): number =>
  screen.layout.columns >= WHY_BESIDE
    ? NAME
    : Math.max(LEAST_NAME, screen.layout.columns - BEFORE_NAME - MEM - ageWidth(screen));

const stepHead = (s: Step, outcome: Outcome | null | undefined, screen: Screen): Line => [
  run('  '),
  outcome === undefined
    ? run(toWidth(shortSignal(s.signal), 9), s.signal === 'SIGKILL' ? 'bad' : 'plain')
    : run(
        toWidth(outcome?.outcome ?? unknownOutcome(s), 9),
        outcome ? OUTCOME_TONES[outcome.outcome] : 'faint',
      ),
  verdictRun(s, screen),
  run(toWidth(String(s.pid), 7, 'right'), 'strong'),
  run(' '),
  run(toWidth(s.name, nameWidth(screen)), 'plain'),
  run(toWidth(memoryText(s, screen), MEM, 'right')),
  run(toWidth(formatAge(s.ageSeconds), ageWidth(screen), 'right')),
];

/** A condition must be read to its end; a reason may be cut, its process's detail pane has all of it. */
const mustBeWhole = (s: Step): boolean => s.confirm || s.signal === 'SIGCHLD' || /\bonly if\b/.test(s.why);

/** The reason beside its process, and below it where all of it must be seen. */
const whyBeside = (
  head: Line,
  why: string,
  tone: Tone,
  { layout }: Screen,
  whole: boolean,
): readonly Line[] => {
  const indent = lineWidth(head) + 2;
  if (!whole) return [[...head, run('  '), run(why, tone)]];
  return wrap(why, Math.max(12, layout.columns - indent)).map((part, i) => [
    ...(i === 0 ? [...head, run('  ')] : [run(' '.repeat(indent))]),
    run(part, tone),
  ]);
};

const whyBelow = (why: string, tone: Tone, screen: Screen): readonly Line[] =>
  wrap(why, Math.max(12, screen.layout.columns - WHY_INDENT)).map(part => [
    run(' '.repeat(WHY_INDENT)),
    run(part, tone),
  ]);

export const stepLines = (
  plan: Plan,
  outcomes: readonly Outcome[] | null,
  screen: Screen,
): readonly Line[] => {
  const beside = screen.layout.columns >= WHY_BESIDE;
  let said = '';
  return plan.steps.flatMap((s): readonly Line[] => {
    const outcome = outcomes ? outcomeOf(s, outcomes) : undefined;
    const head = stepHead(s, outcome, screen);
    const guarded = s.confirm && !outcomes ? 'soft-protected: ' : '';
    const why = outcome ? outcome.why : `${guarded}${s.why}`;
    const tone = s.confirm ? 'warn' : 'faint';
    if (beside) return whyBeside(head, why, tone, screen, mustBeWhole(s));
    const repeated = why === said;
    said = why;
    return repeated || (outcomes && !outcome) ? [head] : [head, ...whyBelow(why, tone, screen)];
  });
};

/** Outcomes of what no step named: zombies, and processes that were started while the plan ran. */
const extraSteps = (plan: Plan, outcomes: readonly Outcome[]): readonly Step[] =>
  outcomes
    .filter(o => !plan.steps.some(s => s.pid === o.pid && s.start === o.start))
    .map(o => ({
      ...o,
      command: o.name,
      signal: 'SIGTERM',
      rss: o.freed,
      ageSeconds: null,
      root: o,
      stopped: false,
      confirm: false,
    }));

export const withExtras = (plan: Plan, outcomes: readonly Outcome[]): Plan => ({
  ...plan,
  steps: [...plan.steps, ...extraSteps(plan, outcomes)],
});

export const refusalLines = (plan: Plan, width: number): readonly Line[] => {
  if (plan.refused.length === 0) return [];
  return [
    [],
    [run(`  Refused: ${plural(plan.refused.length, 'process', 'processes')}`, 'warn')],
    ...plan.refused.flatMap(r => {
      const parts = wrap(`${r.name}: ${r.why}`, Math.max(10, width - 21));
      return parts.map(
        (part, i): Line => [
          run(' '.repeat(11)),
          run(toWidth(i === 0 ? String(r.pid) : '', 7, 'right'), 'strong'),
          run(` ${part}`, 'plain'),
        ],
      );
    }),
  ];
};

export const columnNames = (screen: Screen, first: string): Line => {
  const beside = screen.layout.columns >= WHY_BESIDE ? '  WHY' : '';
  const name = toWidth('NAME', nameWidth(screen));
  const text = `  ${toWidth(first, 14)}${toWidth('PID', 7, 'right')} ${name}${toWidth('MEM', MEM, 'right')}${toWidth('AGE', ageWidth(screen), 'right')}${beside}`;
  return [run(toWidth(text, screen.layout.columns), 'heading')];
};
