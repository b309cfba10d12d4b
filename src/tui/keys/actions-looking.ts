import type { TimeStep } from '../../live/live.ts';
import { entryContent } from '../content/entry.ts';
import { helpContent } from '../content/help.ts';
import { bodyRows } from '../view/layout.ts';
import { entryUnderCursor } from '../view/panel-entries.ts';
import type { Grouping } from '../view/row-groups.ts';
import type { SortId } from '../view/row-sort.ts';
import { type Focus, PANELS } from '../view/state.ts';
import type { Action, Controls } from './action.ts';
import { goTo } from './actions-moving.ts';
import { inPane } from './reasons.ts';
import { reveal, stepFinding } from './reveal.ts';

const FOCUS: readonly Focus[] = ['tree', ...PANELS];

const stepFocus = (controller: Controls, by: 1 | -1): void => {
  const at = FOCUS.indexOf(controller.view.focus);
  if (controller.view.detail) controller.dispatch({ type: 'detail', open: false });
  controller.dispatch({ type: 'focus', focus: FOCUS[(at + by + FOCUS.length) % FOCUS.length]! });
};

/** Enter in a panel goes to the process that the entry speaks of. */
const enterPanel = (controller: Controls): void => {
  const { view, screen } = controller;
  const line = entryUnderCursor('log', screen, view);
  if (line?.entry) {
    controller.dispatch({ type: 'overlay', overlay: { kind: 'entry', line } });
    return;
  }
  const identity =
    entryUnderCursor('findings', screen, view)?.processes[0] ??
    entryUnderCursor('heartbeats', screen, view)?.agent ??
    line?.about;
  if (!identity) {
    controller.notice('This entry concerns no process.');
    return;
  }
  controller.dispatch({ type: 'focus', focus: 'tree' });
  if (!reveal(controller, identity)) controller.notice('That process is gone, or hidden: a shows all.');
};

/** Seconds between two refreshes that `+` and `-` step through. */
const INTERVALS = [0.5, 1, 2, 3, 5, 10, 30, 60];

export const stepInterval = (controller: Controls, by: 1 | -1): void => {
  const now = controller.live.getState().intervalSeconds;
  const next = by > 0 ? INTERVALS.find(s => s > now) : INTERVALS.findLast(s => s < now);
  if (next === undefined) controller.notice(`The interval stays at ${now} s: that is the limit.`);
  else controller.live.setInterval(next);
};

const scrollSheet = (controller: Controls, { length }: readonly unknown[], by: number): void => {
  const limit = Math.max(0, length - (bodyRows(controller) - 1));
  controller.dispatch({
    type: 'overlay-scroll',
    to: Math.min(limit, controller.view.overlayScroll + by),
  });
};

const scrollHelp = (controller: Controls, by: number): void =>
  scrollSheet(controller, helpContent(controller.layout.columns, false), by);

const scrollEntry = (controller: Controls, by: number): void => {
  const { overlay } = controller.view;
  if (overlay?.kind === 'entry')
    scrollSheet(controller, entryContent(overlay.line, controller.layout.columns), by);
};

/** The past is not frozen: stepping through it must show. */
const travel = (controller: Controls, step: TimeStep): void => {
  if (controller.view.frozen !== null) controller.dispatch({ type: 'freeze', snapshot: null });
  const travelled = controller.live.travel?.(step) ?? Promise.resolve('There is no recording of this.');
  travelled.then(
    sentence => {
      if (sentence !== null) controller.notice(sentence);
    },
    (error: unknown) => controller.notice(error instanceof Error ? error.message : String(error), 'bad'),
  );
};

const GROUPED = {
  tmux: 'By tmux session.',
  project: 'By project.',
  flat: 'One flat list.',
} satisfies Record<Grouping, string>;

/** The flat list from its top: what was asked for is the first row. */
const list = (controller: Controls, sort: SortId): void => {
  controller.dispatch({ type: 'list', sort });
  goTo(controller, 0);
};

export const LOOKING = {
  'time-back': controller => travel(controller, 'back'),
  'time-forward': controller => travel(controller, 'forward'),
  'mark-back': controller => travel(controller, 'mark-back'),
  'mark-forward': controller => travel(controller, 'mark-forward'),
  filter: controller => controller.dispatch({ type: 'filter-open' }),
  'filter-keep': controller => controller.dispatch({ type: 'filter-close', keep: true }),
  'filter-clear': controller => controller.dispatch({ type: 'filter-close', keep: false }),
  'filter-erase': controller =>
    controller.dispatch({ type: 'filter', text: [...controller.view.filter].slice(0, -1).join('') }),
  sort: controller => controller.dispatch({ type: 'next-sort' }),
  grouping: controller => {
    controller.dispatch({ type: 'next-grouping' });
    controller.notice(GROUPED[controller.view.grouping], 'plain');
  },
  'by-memory': controller => list(controller, 'memory'),
  'by-cpu': controller => list(controller, 'cpu'),
  'by-age': controller => list(controller, 'start'),
  'next-finding': controller => stepFinding(controller, 1),
  'previous-finding': controller => stepFinding(controller, -1),
  detail: controller => {
    if (controller.view.focus !== 'tree') return enterPanel(controller);
    controller.dispatch({ type: 'detail', open: !controller.view.detail });
  },
  'next-panel': controller => stepFocus(controller, 1),
  'previous-panel': controller => stepFocus(controller, -1),
  pane: controller => {
    const target = inPane(controller.situation);
    if (!target) return;
    controller.live.jump({ pid: target.facts.pid, start: target.facts.start }).then(
      said => controller.notice(said, 'plain'),
      (error: unknown) => controller.notice(error instanceof Error ? error.message : String(error), 'bad'),
    );
  },
  all: controller => {
    const all = !controller.view.all;
    controller.live.setAll(all);
    controller.dispatch({ type: 'all', all });
  },
  freeze: controller => {
    const frozen = controller.view.frozen === null;
    controller.live.setFrozen(frozen);
    controller.dispatch({ type: 'freeze', snapshot: frozen ? controller.live.getState().snapshot : null });
  },
  longer: controller => stepInterval(controller, 1),
  shorter: controller => stepInterval(controller, -1),
  refresh: controller => {
    controller.live.refresh();
    controller.redraw();
  },
  help: controller => controller.dispatch({ type: 'overlay', overlay: { kind: 'help' } }),
  'entry-up': controller => scrollEntry(controller, -1),
  'entry-down': controller => scrollEntry(controller, 1),
  'help-up': controller => scrollHelp(controller, -1),
  'help-down': controller => scrollHelp(controller, 1),
  'help-page-up': controller => scrollHelp(controller, 2 - bodyRows(controller)),
  'help-page-down': controller => scrollHelp(controller, bodyRows(controller) - 2),
  back: controller => {
    const { detail, focus, filter } = controller.view;
    if (detail) controller.dispatch({ type: 'detail', open: false });
    else if (focus !== 'tree') controller.dispatch({ type: 'focus', focus: 'tree' });
    else if (filter !== '') controller.dispatch({ type: 'filter-close', keep: false });
  },
  quit: controller => {
    const { running } = controller.live.getState();
    const cutsShort = running !== null && !running.done && controller.toldOfQuitting !== running.plan;
    if (!cutsShort) return controller.quit(0);
    controller.toldOfQuitting = running.plan;
    controller.notice('A plan is still running: q again quits and sends no further signal.');
  },
  interrupt: controller => controller.quit(130),
  suspend: controller => controller.suspend(),
} satisfies Record<string, Action>;
