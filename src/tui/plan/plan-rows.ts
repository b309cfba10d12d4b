import type { RunningPlan } from '../../engine/live-state.ts';
import { keyOf } from '../../model/identity.ts';
import {
  type ActRequest,
  findOutcome,
  type OtherOutcome,
  type OtherStep,
  type Outcome,
  type Plan,
  type PlanRow,
  planRows,
  rowReason,
  type Step,
  weightOf,
} from '../../model/plan.ts';
import { doesTo, LEFT_ALONE, liveWarnings, otherWayText, shortSignal } from '../../model/plan-text.ts';
import { memoryOf } from '../../model/process.ts';
import { type JudgedProcess, VERDICT_WORDS } from '../../model/snapshot.ts';
import { wrap } from '../../model/text.ts';
import { OTHER_STEP_TONES, OUTCOME_TONES } from '../../model/ui-settings.ts';
import { formatAge, formatBytes, plural } from '../../model/units.ts';
import type { Screen } from '../screen.ts';
import type { Overlay } from '../state.ts';
import { matcher } from '../tree/row-order.ts';
import { type Run, type Runs, run, runsWidth, toWidth } from '../ui/runs.ts';
import type { ThemeTone } from '../ui/theme.ts';

export type PlanOverlay = Extract<Overlay, { kind: 'plan' }>;

/** The rows of a plan to be read: warnings first, then each step, what is refused and what is left alone. */
export const planContent = (overlay: PlanOverlay, screen: Screen): readonly Runs[] => [
  ...liveLines(overlay, screen),
  ...changedLines(overlay.changed, screen.layout.columns),
  ...hiddenLines(overlay, screen),
  ...stepLines(overlay.plan, null, screen),
  ...choreLines(overlay.plan, null, screen),
  ...otherWayLines(overlay.plan),
  ...refusalLines(overlay.plan, screen.layout.columns),
  ...leftAloneLines(overlay.plan, screen),
];

/** The same while it runs, each row with what became of the process. */
export const runningContent = (running: RunningPlan, screen: Screen): readonly Runs[] => [
  ...stepLines(withExtras(running.plan, running.outcomes), running.outcomes, screen),
  ...choreLines(running.plan, running.otherOutcomes ?? [], screen),
];

/** `c` takes every leak, also those the filter hides: then the plan counts them. */
const hiddenLines = ({ plan, request }: PlanOverlay, { view, snapshot, layout }: Screen): readonly Runs[] => {
  const matches = request.act === 'clean' ? matcher(view.filter) : null;
  if (!matches) return [];
  const shown = new Set(snapshot.processes.filter(p => matches(p)).map(p => keyOf(p.facts)));
  const hidden = plan.steps.filter(step => !shown.has(keyOf(step))).length;
  if (hidden === 0) return [];
  const told = `c cleans all ${plan.steps.length} (${hidden} hidden by the filter)`;
  return [
    ...wrap(told, Math.max(10, layout.columns - 4)).map((part): Runs => [run(`  ${part}`, 'warn')]),
    [],
  ];
};

const changedLines = (changed: string | undefined, width: number): readonly Runs[] => {
  if (changed === undefined) return [];
  const told = `Nothing was signalled: since you read this plan, ${changed}`;
  return [...wrap(told, Math.max(10, width - 4)).map((part): Runs => [run(`  ${part}`, 'warn')]), []];
};

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

/** On the smallest screen the age goes, whole: half of one is useless. */
const ageWidth = ({ layout }: Screen): number =>
  layout.columns >= BEFORE_NAME + LEAST_NAME + MEM + AGE ? AGE : 0;

const nameWidth = (screen: Screen): number =>
  screen.layout.columns >= WHY_BESIDE
    ? NAME
    : Math.max(LEAST_NAME, screen.layout.columns - BEFORE_NAME - MEM - ageWidth(screen));

/** What is done only when a nudge does not help must not look certain. */
const signalWord = ({ step, nudge }: PlanRow): string =>
  nudge !== null || /\bonly if\b/.test(step.why) ? 'may end' : shortSignal(step.signal);

const stepHead = (row: PlanRow, outcome: Outcome | null | undefined, screen: Screen, s = row.step): Runs => [
  run('  '),
  outcome === undefined
    ? run(toWidth(signalWord(row), 9), s.signal === 'SIGKILL' ? 'bad' : 'plain')
    : run(
        toWidth(outcome?.outcome ?? unknownOutcome(s), 9),
        outcome ? OUTCOME_TONES[outcome.outcome] : 'faint',
      ),
  verdictRun(s, screen),
  run(toWidth(String(s.pid), 7, 'right'), 'strong'),
  run(' '),
  run(toWidth(`${row.below ? '  ' : ''}${s.name}`, nameWidth(screen)), 'plain'),
  run(toWidth(memoryText(s, screen), MEM, 'right')),
  run(toWidth(formatAge(s.ageSeconds), ageWidth(screen), 'right')),
];

/** A condition must be read to its end; a reason may be cut, its process's detail pane has all of it. */
const mustBeWhole = ({ step: s }: PlanRow): boolean =>
  s.confirm || s.signal === 'SIGCHLD' || /\bonly if\b/.test(s.why);

/** The reason beside its process, and below it where all of it must be seen. */
const whyBeside = (
  head: Runs,
  why: string,
  tone: ThemeTone,
  { layout }: Screen,
  whole: boolean,
): readonly Runs[] => {
  const indent = runsWidth(head) + 2;
  if (!whole) return [[...head, run('  '), run(why, tone)]];
  return wrap(why, Math.max(12, layout.columns - indent)).map((part, i) => [
    ...(i === 0 ? [...head, run('  ')] : [run(' '.repeat(indent))]),
    run(part, tone),
  ]);
};

const whyBelow = (why: string, tone: ThemeTone, screen: Screen): readonly Runs[] =>
  wrap(why, Math.max(12, screen.layout.columns - WHY_INDENT)).map(part => [
    run(' '.repeat(WHY_INDENT)),
    run(part, tone),
  ]);

const stepLines = (plan: Plan, outcomes: readonly Outcome[] | null, screen: Screen): readonly Runs[] => {
  const beside = screen.layout.columns >= WHY_BESIDE;
  let said = '';
  return planRows(plan.steps).flatMap((row): readonly Runs[] => {
    const { step: s } = row;
    const outcome = outcomes ? findOutcome(s, outcomes) : undefined;
    const head = stepHead(row, outcome, screen);
    const guarded = s.confirm && !outcomes ? 'protected: ' : '';
    const why = outcome ? outcome.why : `${guarded}${rowReason(row)}`;
    const tone = s.confirm ? 'warn' : 'faint';
    if (why === '') return [head];
    if (beside) return whyBeside(head, why, tone, screen, mustBeWhole(row));
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

const refusalLines = (plan: Plan, width: number): readonly Runs[] => {
  if (plan.refused.length === 0) return [];
  return [
    [],
    [run(`  Refused: ${plural(plan.refused.length, 'process', 'processes')}`, 'warn')],
    ...plan.refused.flatMap(r => {
      const parts = wrap(`${r.name}: ${r.why}`, Math.max(10, width - 21));
      return parts.map(
        (part, i): Runs => [
          run(' '.repeat(11)),
          run(toWidth(i === 0 ? String(r.pid) : '', 7, 'right'), 'strong'),
          run(` ${part}`, 'plain'),
        ],
      );
    }),
  ];
};

export const columnNames = (screen: Screen, first: string): Runs => {
  const beside = screen.layout.columns >= WHY_BESIDE ? '  WHY' : '';
  const name = toWidth('NAME', nameWidth(screen));
  const text = `  ${toWidth(first, 14)}${toWidth('PID', 7, 'right')} ${name}${toWidth('MEM', MEM, 'right')}${toWidth('AGE', ageWidth(screen), 'right')}${beside}`;
  return [run(toWidth(text, screen.layout.columns), 'heading')];
};

const ACTS = {
  archive: 'archive',
  delete: 'delete',
  remove: 'remove',
  expire: 'delete',
  'end-session': 'end tmux',
  'claude-stop': 'stop',
  'free-call': 'frees',
  'send-escape': 'send',
  sleep: 'keep',
  wake: 'wake',
} satisfies Record<OtherStep['act'], string>;

const INDENT = 11;

/** `claude stop 1a2b3c4d` is what would be run; a path and a session's name stand for themselves. */
const targetText = ({ act, target }: OtherStep): string =>
  act === 'claude-stop' ? `claude stop ${target}` : target;

/** The end of a path says which file it is: it is never cut, but goes on below. */
const below = (text: string, tone: ThemeTone, { layout }: Screen): readonly Runs[] =>
  wrap(text, Math.max(12, layout.columns - INDENT)).map(part => [run(' '.repeat(INDENT)), run(part, tone)]);

const titled = (word: string, wordTone: ThemeTone, target: string, screen: Screen): readonly Runs[] => {
  const [first = [], ...rest] = below(target, 'plain', screen);
  return [[run('  '), run(toWidth(word, INDENT - 2), wordTone), ...first.slice(1)], ...rest];
};

/** The steps of a plan that are not signals; with outcomes, what became of them. */
const choreLines = (plan: Plan, outcomes: readonly OtherOutcome[] | null, screen: Screen): readonly Runs[] =>
  (plan.otherSteps ?? []).flatMap(chore => {
    const outcome = outcomes?.find(({ act, target }) => act === chore.act && target === chore.target);
    const [word, tone] = outcome
      ? ([outcome.outcome, OTHER_STEP_TONES[outcome.outcome]] as const)
      : ([outcomes ? '' : ACTS[chore.act], 'plain'] as const);
    const why = outcome ? outcome.why : chore.why;
    return [...titled(word, tone, targetText(chore), screen), ...below(why, 'faint', screen)];
  });

const leftAloneLines = ({ leftAlone = [] }: Plan, screen: Screen): readonly Runs[] =>
  leftAlone.length === 0
    ? []
    : [
        [],
        [run(`  ${LEFT_ALONE}`, 'warn')],
        ...leftAlone.flatMap(({ what, why }) => below(`${what}: ${why}`, 'plain', screen)),
      ];

const otherWayLines = (plan: Plan): readonly Runs[] =>
  plan.otherWay === undefined
    ? []
    : [[], [run('  '), run('tab', 'key'), run(`: ${otherWayText(plan)}`, 'plain')]];

/** The first lines of a plan that would end live work, in colour. */
const liveLines = (
  { plan, request }: { readonly plan: Plan; readonly request: ActRequest },
  { snapshot, layout }: Screen,
): readonly Runs[] => {
  const told = liveWarnings(plan, snapshot, doesTo(request));
  if (told.length === 0) return [];
  const width = Math.max(10, layout.columns - 4);
  return [...told.flatMap(text => wrap(text, width).map((part): Runs => [run(`  ${part}`, 'bad')])), []];
};
