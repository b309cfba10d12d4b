import type { RunningPlan } from '../../live/live.ts';
import { plural } from '../../model/format.ts';
import { keyOf } from '../../model/identity.ts';
import { DEFAULT_GRACE_MS, doesNothing, type Plan, pidsToType } from '../../model/plan.ts';
import { choresText, endingSignals, signalNames, signalsSent } from '../../words/plan.ts';
import { planTitle } from '../../words/request.ts';
import { wrap } from '../../words/wrap.ts';
import { clickable } from '../view/clickable.ts';
import { type Line, lineToWidth, lineWidth, run } from '../view/line.ts';
import { matcher } from '../view/row-filter.ts';
import type { Screen } from '../view/screen.ts';
import type { Overlay } from '../view/state.ts';
import { choreLines, leftAloneLines } from './plan-chores.ts';
import { liveLines } from './plan-live.ts';
import { columnNames, refusalLines, stepLines, withExtras } from './plan-rows.ts';
import { scrolledOverlay, titleRule } from './tabs.ts';

/** Cells of the rule around a title. */
const TITLE_EDGE = 4;

type PlanOverlay = Extract<Overlay, { kind: 'plan' }>;

/** A signal that was chosen is all that is sent; whatever is to end gets what that takes. */
const signalsText = ({ plan, request }: PlanOverlay, told: typeof endingSignals): string =>
  request.act === 'signal' ? signalNames(plan.steps) : told(plan, DEFAULT_GRACE_MS / 1000);

const PRESS_Y: Line = [
  run('Press ', 'strong'),
  run('y', 'key'),
  run(' to ', 'strong'),
  clickable(run('run', 'strong'), { key: 'y' }),
  run(', any other key to cancel.', 'strong'),
];
const Y_RUNS: Line = [
  run('y', 'key'),
  run(' ', 'strong'),
  clickable(run('runs', 'strong'), { key: 'y' }),
  run(' it.', 'strong'),
];

/** What is typed must be seen behind it, with its caret. */
const askFor = (pid: number, columns: number): string => {
  const room = columns - String(pid).length - 1;
  const ways = [` Protected. Type its pid, ${pid}, to confirm: `, ` Type its pid, ${pid}, to confirm: `];
  return ways.find(way => way.length <= room) ?? ` Type ${pid}: `;
};

/** A parent that is nudged first, and ended if that does not help, is one process. */
const processesIn = ({ steps }: Plan): number => new Set(steps.map(keyOf)).size;

/** What is asked of the user now. */
const question = (overlay: PlanOverlay, { glyphs, layout }: Screen): Line => {
  const { plan, confirmed, typed } = overlay;
  if (doesNothing(plan)) return [run(' Nothing would be signalled. Any key leaves.', 'strong')];
  const missing = pidsToType(plan).filter(pid => !confirmed.includes(pid));
  if (missing.length > 0)
    return [run(askFor(missing[0]!, layout.columns), 'warn'), run(typed, 'strong'), run(glyphs.caret, 'key')];
  const chores = choresText(plan);
  const count = plan.steps.length > 0 ? plural(processesIn(plan), 'process', 'processes') : chores;
  const [signals, sent] = [endingSignals, signalsSent].map(told =>
    plan.steps.length > 0 ? signalsText(overlay, told) : 'no signal',
  );
  // How many and how to go on must fit; the rest can be seen above.
  const ways: readonly Line[] = [
    [run(` ${count}: ${signals}. `, 'strong'), ...PRESS_Y],
    [run(` ${signals}. `, 'strong'), ...PRESS_Y],
    [run(` ${signals}. `, 'strong'), ...Y_RUNS],
    [run(` ${sent}. `, 'strong'), ...Y_RUNS],
    [run(' '), ...Y_RUNS],
  ];
  return ways.find(line => lineWidth(line) <= layout.columns) ?? PRESS_Y;
};

const framed = (
  title: string,
  head: Line,
  content: readonly Line[],
  last: Line,
  screen: Screen,
  rows: number,
): readonly Line[] => {
  const { layout, glyphs } = screen;
  const { shown, more } = scrolledOverlay(content, Math.max(1, rows - 4), screen);
  return [
    titleRule(title, layout.columns, glyphs.rule, more),
    head,
    ...shown,
    [run(glyphs.rule.repeat(layout.columns), 'rule')],
    last,
  ].map(line => lineToWidth(line, layout.columns, glyphs.ellipsis));
};

const contentOf = (overlay: PlanOverlay, screen: Screen): readonly Line[] => [
  ...liveLines(overlay, screen),
  ...changedLines(overlay.changed, screen.layout.columns),
  ...hiddenLines(overlay, screen),
  ...stepLines(overlay.plan, null, screen),
  ...choreLines(overlay.plan, null, screen),
  ...refusalLines(overlay.plan, screen.layout.columns),
  ...leftAloneLines(overlay.plan, screen),
];

const runningContent = (running: RunningPlan, screen: Screen): readonly Line[] => [
  ...stepLines(withExtras(running.plan, running.outcomes), running.outcomes, screen),
  ...choreLines(running.plan, running.chores ?? [], screen),
];

/** `c` takes every leak, also what the filter hides: then it says so. */
const hiddenLines = ({ plan, request }: PlanOverlay, { view, snapshot, layout }: Screen): readonly Line[] => {
  const matches = request.act === 'clean' ? matcher(view.filter) : null;
  if (!matches) return [];
  const shown = new Set(snapshot.processes.filter(matches).map(p => keyOf(p.facts)));
  const hidden = plan.steps.filter(step => !shown.has(keyOf(step))).length;
  if (hidden === 0) return [];
  const told = `c cleans all ${plan.steps.length} (${hidden} hidden by the filter)`;
  return [
    ...wrap(told, Math.max(10, layout.columns - 4)).map((part): Line => [run(`  ${part}`, 'warn')]),
    [],
  ];
};

const changedLines = (changed: string | undefined, width: number): readonly Line[] => {
  if (changed === undefined) return [];
  const told = `Nothing was signalled: since you read this plan, ${changed}`;
  return [...wrap(told, Math.max(10, width - 4)).map((part): Line => [run(`  ${part}`, 'warn')]), []];
};

export const planLines = (screen: Screen, rows: number): readonly Line[] => {
  const { overlay } = screen.view;
  if (overlay?.kind !== 'plan') return [];
  return framed(
    planTitle(overlay.request, overlay.plan, screen.layout.columns - TITLE_EDGE),
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
  const title = done ? 'Done' : `Working: ${outcomes.length} of ${processesIn(steps)}`;
  const last: Line = done
    ? [run(` ${summary ?? 'Done.'}`, 'good')]
    : [run(' Waiting for them to end. ', 'strong'), run('C stops sending signals.', 'faint')];
  return framed(title, columnNames(screen, 'OUTCOME'), runningContent(running, screen), last, screen, rows);
};

/** Rows of content, for scrolling. */
export const overlayLength = (screen: Screen): number => {
  const { overlay } = screen.view;
  if (overlay?.kind === 'plan') return contentOf(overlay, screen).length;
  const { running } = screen.state;
  if (overlay?.kind === 'running' && running) return runningContent(running, screen).length;
  return 0;
};
