import { keyOf } from '../../model/identity.ts';
import { doesNothing, pidsToType } from '../../model/plan.ts';
import { identityOf } from '../../model/snapshot.ts';
import { SIGNALS } from '../../words/signals.ts';
import { overlayLength } from '../content/plan.ts';
import { bodyRows } from '../view/layout.ts';
import { treeRows } from '../view/rows.ts';
import { rowOptions } from '../view/state.ts';
import type { Action, Controls } from './action.ts';
import type { Keystroke } from './reader.ts';

const targets = (controller: Controls) => controller.targets.map(identityOf);

const scroll = (controller: Controls, by: number): void => {
  const room = Math.max(1, bodyRows(controller) - 4);
  const limit = Math.max(0, overlayLength(controller.screen) - room);
  controller.dispatch({ type: 'overlay-scroll', to: Math.min(limit, controller.view.overlayScroll + by) });
};

const pageOf = (controller: Controls): number => Math.max(1, bodyRows(controller) - 5);

/** Runs the plan on the screen, if the user can have seen it. */
const go: Action = (controller, { chunk }) => {
  const { overlay } = controller.view;
  if (overlay?.kind !== 'plan') return; // still being made: nobody has seen it
  const { plan, request, confirmed, openedIn } = overlay;
  if (doesNothing(plan)) return controller.dispatch({ type: 'overlay', overlay: null });
  if (chunk <= openedIn) return controller.notice('Too early: read the plan, then press y.');
  const missing = pidsToType(plan).filter(pid => !confirmed.includes(pid));
  if (missing.length > 0) return controller.notice(`Type ${missing[0]} first: it is protected.`);
  controller.dispatch({ type: 'overlay', overlay: { kind: 'running' } });
  controller.live.run(plan, request).then(
    again => {
      if (again !== null) controller.showAgain(request, again);
    },
    (error: unknown) => {
      controller.notice(`It failed: ${error instanceof Error ? error.message : String(error)}`, 'bad');
    },
  );
};

/** Digits go to the pid being asked for; false when none is, or the key is no digit. */
export const typePid = (controller: Controls, { text, chunk }: Keystroke): boolean => {
  const { overlay } = controller.view;
  if (overlay?.kind !== 'plan' || !/^\d$/.test(text)) return false;
  const missing = pidsToType(overlay.plan).filter(pid => !overlay.confirmed.includes(pid));
  if (missing.length === 0) return false;
  const typed = overlay.typed + text;
  const done = typed === String(missing[0]);
  controller.dispatch({
    type: 'overlay',
    overlay: done
      ? { ...overlay, typed: '', confirmed: [...overlay.confirmed, missing[0]!], openedIn: chunk }
      : { ...overlay, typed: typed.slice(-10) },
  });
  return true;
};

const moveSignal = (controller: Controls, by: number): void => {
  const { overlay } = controller.view;
  if (overlay?.kind !== 'signals') return;
  const cursor = (overlay.cursor + by + SIGNALS.length) % SIGNALS.length;
  controller.dispatch({ type: 'overlay', overlay: { kind: 'signals', cursor } });
};

/** On a heading: every top-level process of the group, folded away or not. */
const underHeading = ({ view, snapshot }: Controls): readonly string[] => {
  const folded = new Set([...view.folded].filter(key => key !== view.selected));
  const rows = treeRows(snapshot, { ...rowOptions(view), folded });
  const heading = rows.findIndex(row => row.key === view.selected);
  const keys: string[] = [];
  for (let i = heading + 1; heading >= 0 && i < rows.length && rows[i]!.process; i += 1)
    if (rows[i]!.trail.length === 1) keys.push(rows[i]!.key);
  return keys;
};

export const ACTING = {
  mark: controller => {
    const { rows, view } = controller;
    const row = rows[view.selectedIndex];
    if (!row || row.gone) return;
    const keys = row.process ? [keyOf(identityOf(row.process))] : underHeading(controller);
    controller.dispatch({ type: 'mark', keys });
    const next = rows[view.selectedIndex + 1];
    if (row.process && next)
      controller.dispatch({ type: 'select', key: next.key, index: view.selectedIndex + 1 });
  },
  'unmark-all': controller => controller.dispatch({ type: 'unmark-all' }),
  'end-process': controller =>
    controller.openPlan({ act: 'end', targets: targets(controller), force: false }),
  kill: controller => controller.openPlan({ act: 'end', targets: targets(controller), force: true }),
  clean: controller => controller.openPlan({ act: 'clean' }),
  zombies: controller => controller.openPlan({ act: 'zombies' }),
  fix: controller => {
    const { finding } = controller.situation;
    if (finding) controller.openPlan({ act: 'fix', finding });
  },
  signal: controller => controller.dispatch({ type: 'overlay', overlay: { kind: 'signals', cursor: 0 } }),
  'signals-up': controller => moveSignal(controller, -1),
  'signals-down': controller => moveSignal(controller, 1),
  'signals-choose': controller => {
    const { overlay } = controller.view;
    const chosen = overlay?.kind === 'signals' ? SIGNALS[overlay.cursor] : undefined;
    if (chosen) controller.openPlan({ act: 'signal', targets: targets(controller), signal: chosen.name });
  },
  go,
  'plan-up': controller => scroll(controller, -1),
  'plan-down': controller => scroll(controller, 1),
  'plan-page-up': controller => scroll(controller, -pageOf(controller)),
  'plan-page-down': controller => scroll(controller, pageOf(controller)),
  'plan-erase': controller => {
    const { overlay } = controller.view;
    if (overlay?.kind === 'plan')
      controller.dispatch({ type: 'overlay', overlay: { ...overlay, typed: overlay.typed.slice(0, -1) } });
  },
  stop: controller => {
    controller.live.cancel();
    controller.notice('No further signals are sent; what was signalled already may still end.');
  },
  'running-up': controller => scroll(controller, -1),
  'running-down': controller => scroll(controller, 1),
  'running-leave': controller => controller.dispatch({ type: 'overlay', overlay: null }),
} satisfies Record<string, Action>;
