import { Box } from 'ink';
import type { ReactNode } from 'react';
import { keyOf } from '../../model/identity.ts';
import { DEFAULT_GRACE_MS, doesNothing, type Plan, pidsToType } from '../../model/plan.ts';
import { endingSignals, otherStepsText, planTitle, signalNames, signalsSent } from '../../model/plan-text.ts';
import { plural } from '../../model/units.ts';
import { useKeys } from '../keys/use-keys.ts';
import type { Screen } from '../screen.ts';
import { Line, Lines } from '../ui/line.tsx';
import { clickable, type Runs, run, runsWidth } from '../ui/runs.ts';
import { Sheet, scrolled } from '../ui/sheet.tsx';
import { useScreen } from '../ui/use-screen.ts';
import { PLAN_SHEET_KEYS, RUNNING_KEYS, roomOf, TYPED_PID } from './plan-keys.ts';
import { columnNames, type PlanOverlay, planContent, runningContent, withExtras } from './plan-rows.ts';

/** A plan is there in a moment: until then the screen stays as it is, and the keys are those of the plan. */
export const Planning = (): ReactNode => {
  useKeys('plan', PLAN_SHEET_KEYS, TYPED_PID);
  return null;
};

/** What would be done, and the question whether to do it. */
export const PlanSheet = (): ReactNode => {
  const screen = useScreen();
  const { overlay } = screen.view;
  useKeys('plan', PLAN_SHEET_KEYS, TYPED_PID);
  if (overlay?.kind !== 'plan') return null;
  return (
    <Framed
      title={planTitle(overlay.request, overlay.plan, screen.layout.columns - TITLE_EDGE)}
      head={columnNames(screen, 'SIGNAL')}
      content={planContent(overlay, screen)}
      last={question(overlay, screen)}
    />
  );
};

/** The same list while it happens, each row with what really became of the process. */
export const Running = (): ReactNode => {
  const screen = useScreen();
  const { running } = screen.state;
  useKeys('running', RUNNING_KEYS);
  if (!running) return <Framed title="Starting" head={[]} content={[]} last={[]} />;
  const { plan, outcomes, done, summary } = running;
  return (
    <Framed
      title={done ? 'Done' : `Working: ${outcomes.length} of ${processesIn(withExtras(plan, outcomes))}`}
      head={columnNames(screen, 'OUTCOME')}
      content={runningContent(running, screen)}
      last={
        done
          ? [run(` ${summary ?? 'Done.'}`, 'good')]
          : [run(' Waiting for them to end. ', 'strong'), run('C stops sending signals.', 'faint')]
      }
    />
  );
};

interface FramedProps {
  readonly title: string;
  readonly head: Runs;
  readonly content: readonly Runs[];
  readonly last: Runs;
}

/** The list of a plan between its column names and the row that asks or sums up. */
const Framed = ({ title, head, content, last }: FramedProps): ReactNode => {
  const screen = useScreen();
  const { columns } = screen.layout;
  const room = roomOf(screen);
  const { shown, more } = scrolled(content, room, screen);
  return (
    <Sheet title={title} more={more}>
      <Line runs={head} width={columns} />
      <Box flexDirection="column" flexShrink={0} height={room}>
        <Lines of={shown} width={columns} />
      </Box>
      <Line runs={[run(screen.glyphs.rule.repeat(columns), 'rule')]} />
      <Line runs={last} width={columns} />
    </Sheet>
  );
};

/** Cells of the rule around a title. */
const TITLE_EDGE = 4;

/** A signal that was chosen is all that is sent; whatever is to end gets what that takes. */
const signalsText = ({ plan, request }: PlanOverlay, told: typeof endingSignals): string =>
  request.act === 'signal' ? signalNames(plan.steps) : told(plan, DEFAULT_GRACE_MS / 1000);

const PRESS_Y: Runs = [
  run('Press ', 'strong'),
  run('y', 'key'),
  run(' to ', 'strong'),
  clickable(run('run', 'strong'), { key: 'y' }),
  run('.', 'strong'),
];
const Y_RUNS: Runs = [
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
const question = (overlay: PlanOverlay, { glyphs, layout }: Screen): Runs => {
  const { plan, confirmed, typed } = overlay;
  if (doesNothing(plan)) return [run(' Nothing would be signalled. Any key leaves.', 'strong')];
  const missing = pidsToType(plan).find(pid => !confirmed.includes(pid));
  if (missing !== undefined)
    return [run(askFor(missing, layout.columns), 'warn'), run(typed, 'strong'), run(glyphs.caret, 'key')];
  const others = otherStepsText(plan);
  const count = plan.steps.length > 0 ? plural(processesIn(plan), 'process', 'processes') : others;
  const [signals, sent] = [endingSignals, signalsSent].map(told =>
    plan.steps.length > 0 ? signalsText(overlay, told) : 'no process is signalled',
  );
  // How many and how to go on must fit; the rest can be seen above.
  const ways: readonly Runs[] = [
    [run(` ${count}: ${signals}. `, 'strong'), ...PRESS_Y],
    [run(` ${signals}. `, 'strong'), ...PRESS_Y],
    [run(` ${signals}. `, 'strong'), ...Y_RUNS],
    [run(` ${sent}. `, 'strong'), ...Y_RUNS],
    [run(' '), ...Y_RUNS],
  ];
  return ways.find(line => runsWidth(line) <= layout.columns) ?? PRESS_Y;
};
