import { formatAge, formatBytes, plural } from '../../model/format.ts';
import { type Outcome, type Plan, type Step, spellBack, weightOf } from '../../model/plan.ts';
import { cells } from '../../model/width.ts';
import { OUTCOME_TONES, outcomeOf, pidsToType, planTitle, shortSignal } from '../look/plan-words.ts';
import { type Line, lineToWidth, run, toWidth, wrap } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';
import type { Overlay } from '../view/state.ts';
import { titleRule } from './tabs.ts';

/** From here on the reason stands beside its process, below it goes on a row of its own. */
const WHY_BESIDE = 96;
const NAME = 26;

/** A nudge has no outcome of its own: what became of the zombies is said of each of them. */
const unknownOutcome = (s: Step): string => (s.signal === 'SIGCHLD' ? 'nudge' : '');

const stepHead = (s: Step, outcome: Outcome | null | undefined, name: number): Line => [
  run('  '),
  outcome === undefined
    ? run(toWidth(shortSignal(s.signal), 9), s.signal === 'SIGKILL' ? 'bad' : 'plain')
    : run(
        toWidth(outcome?.outcome ?? unknownOutcome(s), 9),
        outcome ? OUTCOME_TONES[outcome.outcome] : 'faint',
      ),
  run(toWidth(String(s.pid), 7, 'right'), 'strong'),
  run(' '),
  run(toWidth(s.name, name), 'plain'),
  run(toWidth(formatBytes(weightOf(s)), 5, 'right')),
  run(toWidth(formatAge(s.ageSeconds), 7, 'right')),
];

const stepLines = (plan: Plan, outcomes: readonly Outcome[] | null, screen: Screen): readonly Line[] => {
  const width = screen.layout.columns;
  const beside = width >= WHY_BESIDE;
  const name = beside ? NAME : Math.max(7, width - 33);
  let said = '';
  return plan.steps.flatMap((s): readonly Line[] => {
    const outcome = outcomes ? outcomeOf(s, outcomes) : undefined;
    const head = stepHead(s, outcome, name);
    const guarded = s.confirm && !outcomes ? 'soft-protected: ' : '';
    const why = outcome ? outcome.why : `${guarded}${s.why}`;
    const tone = s.confirm ? 'warn' : 'faint';
    if (beside) return [[...head, run('  '), run(why, tone)]];
    const repeated = why === said;
    said = why;
    return repeated || (outcomes && !outcome) ? [head] : [head, [run(' '.repeat(11)), run(why, tone)]];
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

const withExtras = (plan: Plan, outcomes: readonly Outcome[]): Plan => ({
  ...plan,
  steps: [...plan.steps, ...extraSteps(plan, outcomes)],
});

const refusalLines = (plan: Plan, width: number): readonly Line[] => {
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

const columnNames = (screen: Screen, first: string): Line => {
  const beside = screen.layout.columns >= WHY_BESIDE;
  const name = beside ? NAME : Math.max(7, screen.layout.columns - 33);
  const text = `  ${toWidth(first, 9)}${toWidth('PID', 7, 'right')} ${toWidth('NAME', name)}${toWidth('MEM', 5, 'right')}${toWidth('AGE', 7, 'right')}${beside ? '  WHY' : ''}`;
  return [run(toWidth(text, screen.layout.columns), 'heading')];
};

type PlanOverlay = Extract<Overlay, { kind: 'plan' }>;

/** What is asked of the user now. */
const question = ({ plan, confirmed, typed, request }: PlanOverlay, { glyphs, layout }: Screen): Line => {
  if (plan.steps.length === 0) return [run(' Nothing would be signalled. Any key leaves.', 'strong')];
  const missing = pidsToType(plan).filter(pid => !confirmed.includes(pid));
  if (missing.length > 0)
    return [
      run(` Protected. Type its pid, ${missing[0]}, to confirm: `, 'warn'),
      run(typed, 'strong'),
      run(glyphs.caret, 'key'),
    ];
  const signals = [...new Set(plan.steps.map(s => s.signal))].join(' or ');
  const order = request.act === 'end' || request.act === 'clean' ? ', children first' : '';
  const bytes = plan.bytes > 0 ? `; ${spellBack(plan)} come back` : '';
  const what = `${plural(plan.steps.length, 'process', 'processes')}: ${signals}`;
  // The bytes are in the title as well, the order can be seen: how to go on cannot.
  const fits = (text: string): boolean => cells(text) + ' . y goes.'.length <= layout.columns;
  const told = [`${what}${order}${bytes}`, `${what}${order}`, what].find(fits) ?? what;
  return [run(` ${told}. `, 'strong'), run('y', 'key'), run(' goes.', 'strong')];
};

const framed = (
  title: string,
  head: Line,
  content: readonly Line[],
  last: Line,
  screen: Screen,
  rows: number,
): readonly Line[] => {
  const { layout, glyphs, view } = screen;
  const room = Math.max(1, rows - 4);
  const from = Math.min(view.overlayScroll, Math.max(0, content.length - room));
  const more = content.length > room ? `${Math.min(content.length, from + room)} of ${content.length}` : '';
  return [
    titleRule(title, layout.columns, glyphs.rule, more),
    head,
    ...Array.from({ length: room }, (_, i) => content[from + i] ?? []),
    [run(glyphs.rule.repeat(layout.columns), 'rule')],
    last,
  ].map(line => lineToWidth(line, layout.columns, glyphs.ellipsis));
};

const contentOf = (overlay: PlanOverlay, screen: Screen): readonly Line[] => [
  ...changedLines(overlay.changed, screen.layout.columns),
  ...stepLines(overlay.plan, null, screen),
  ...refusalLines(overlay.plan, screen.layout.columns),
];

const changedLines = (changed: string | undefined, width: number): readonly Line[] => {
  if (changed === undefined) return [];
  const told = `Nothing was signalled: since you read this plan, ${changed}`;
  return [...wrap(told, Math.max(10, width - 4)).map((part): Line => [run(`  ${part}`, 'warn')]), []];
};

export const planLines = (screen: Screen, rows: number): readonly Line[] => {
  const { overlay } = screen.view;
  if (overlay?.kind !== 'plan') return [];
  return framed(
    planTitle(overlay.request, overlay.plan),
    columnNames(screen, 'SIGNAL'),
    contentOf(overlay, screen),
    question(overlay, screen),
    screen,
    rows,
  );
};

/** The same list while it happens, each row with what really became of the process. */
export const runningLines = (screen: Screen, rows: number): readonly Line[] => {
  const running = screen.state.running;
  if (!running) return framed('Starting', [], [], [], screen, rows);
  const { plan, outcomes, done, summary } = running;
  const steps = withExtras(plan, outcomes);
  const title = done ? 'Done' : `Working: ${outcomes.length} of ${steps.steps.length}`;
  const last: Line = done
    ? [run(` ${summary ?? 'Done.'}`, 'good')]
    : [run(' Waiting for them to end. ', 'strong'), run('C sends no further signals.', 'faint')];
  return framed(
    title,
    columnNames(screen, 'OUTCOME'),
    stepLines(steps, outcomes, screen),
    last,
    screen,
    rows,
  );
};

/** Rows of content, for scrolling. */
export const overlayLength = (screen: Screen): number => {
  const { overlay } = screen.view;
  if (overlay?.kind === 'plan') return contentOf(overlay, screen).length;
  const { running } = screen.state;
  if (overlay?.kind === 'running' && running)
    return stepLines(withExtras(running.plan, running.outcomes), running.outcomes, screen).length;
  return 0;
};
