import type { Identity } from '../../model/identity.ts';
import { type ActRequest, doesNothing, pidsToType } from '../../model/plan.ts';
import { identityOf } from '../../model/snapshot.ts';
import { idleSession, pidToType } from '../keys/bindings.ts';
import type { Action, OtherKeys } from '../keys/input.ts';
import type { Keystroke } from '../keys/reader.ts';
import type { KeyActions } from '../keys/use-keys.ts';
import type { Screen } from '../screen.ts';
import type { Store } from '../store.ts';
import { bodyRows } from '../ui/layout.ts';
import { closeSheet, scrollSheet } from '../ui/sheet.tsx';
import { openPlan, showAgain } from './plan-question.ts';
import { planContent, runningContent } from './plan-rows.ts';

const targets = (store: Store) => store.targets.map(identityOf);

/** Rows of a plan's list: the title, the column names, a rule and the question stand around it. */
export const roomOf = (screen: Screen): number => Math.max(1, bodyRows(screen) - 4);

const lengthOf = (screen: Screen): number => {
  const { overlay } = screen.view;
  const { running } = screen.state;
  if (overlay?.kind === 'plan') return planContent(overlay, screen).length;
  return overlay?.kind === 'running' && running ? runningContent(running, screen).length : 0;
};

const scroll = (store: Store, by: number): void =>
  scrollSheet(store, lengthOf(store.screen), roomOf(store.screen), by);

const pageOf = ({ screen }: Store): number => Math.max(1, bodyRows(screen) - 5);

/** Runs the plan on the screen, if the user can have seen it. */
const go: Action = (store, { chunk }) => {
  const { overlay } = store.view;
  if (overlay?.kind !== 'plan') return; // still being made, so it cannot have been read
  const { plan, request, openedIn } = overlay;
  if (doesNothing(plan)) return closeSheet(store);
  if (chunk <= openedIn) return store.notice('Too early: read the plan, then press y.');
  const missing = pidToType(store.view);
  if (missing !== null) return store.notice(`Type ${missing} first: it is protected.`);
  store.dispatch({ type: 'overlay', overlay: { kind: 'running' } });
  store.live.run(plan, request).then(
    again => {
      if (again !== null) showAgain(store, request, again);
    },
    (error: unknown) => {
      store.notice(`It failed: ${error instanceof Error ? error.message : String(error)}`, 'bad');
    },
  );
};

/** Digits go to the pid being asked for; false when none is, or the key is not a digit. */
const typePid = (store: Store, { text, chunk }: Keystroke): boolean => {
  const { overlay } = store.view;
  if (overlay?.kind !== 'plan' || !/^\d$/.test(text)) return false;
  const missing = pidToType(store.view);
  if (missing === null) return false;
  const typed = overlay.typed + text;
  if (!String(missing).startsWith(typed))
    store.notice(`${typed.slice(-10)} is not ${missing}; Backspace erases, Esc cancels.`);
  const done = typed === String(missing);
  store.dispatch({
    type: 'overlay',
    overlay: done
      ? { ...overlay, typed: '', confirmed: [...overlay.confirmed, missing], openedIn: chunk }
      : { ...overlay, typed: typed.slice(-10) },
  });
  return true;
};

const sleepRequest = (targets: readonly Identity[]): ActRequest => ({
  act: 'sleep',
  targets,
  minimumIdleSeconds: 0,
});

/** The keys of the main screen that ask for a plan. */
export const PLAN_KEYS = {
  'end-process': store => openPlan(store, { act: 'end', targets: targets(store), force: false }),
  kill: store => openPlan(store, { act: 'end', targets: targets(store), force: true }),
  clean: store => openPlan(store, { act: 'clean' }),
  zombies: store => openPlan(store, { act: 'zombies' }),
  fix: store => {
    const { finding, row } = store.keyContext;
    const idle = idleSession(row?.process ?? null);
    if (finding && (finding.action !== null || idle === null)) openPlan(store, { act: 'fix', finding });
    else if (idle !== null) openPlan(store, sleepRequest([identityOf(idle)]));
  },
} satisfies Record<string, Action>;

/** The same without ending anything: read again, then `y`. */
const nudgeOnly: Action = store => {
  const { overlay } = store.view;
  if (overlay?.kind !== 'plan') return;
  const { request } = overlay;
  const targets = request.act === 'fix' ? request.finding.processes : undefined;
  openPlan(store, {
    act: 'zombies',
    ...(request.act === 'zombies' ? request : { targets }),
    nudgeOnly: true,
  });
};

export const PLAN_SHEET_KEYS: KeyActions<'plan'> = {
  go,
  'nudge-only': nudgeOnly,
  'plan-up': store => scroll(store, -1),
  'plan-down': store => scroll(store, 1),
  'plan-page-up': store => scroll(store, -pageOf(store)),
  'plan-page-down': store => scroll(store, pageOf(store)),
  'plan-other-way': store => {
    const { overlay } = store.view;
    if (overlay?.kind !== 'plan') return;
    const { request } = overlay;
    const { otherWay } = overlay.plan;
    if (otherWay === undefined) return;
    if (request.act === 'fix') openPlan(store, { ...request, way: otherWay });
    else if (request.act === 'end') openPlan(store, sleepRequest(request.targets));
    else if (request.act === 'sleep')
      openPlan(store, { act: 'end', targets: request.targets ?? [], force: false });
  },
  'plan-erase': store => {
    const { overlay } = store.view;
    if (overlay?.kind === 'plan')
      store.dispatch({ type: 'overlay', overlay: { ...overlay, typed: overlay.typed.slice(0, -1) } });
  },
};

/** Digits go to the pid that is asked for; any other key cancels, but Enter after a pid is no such key. */
export const TYPED_PID: OtherKeys = {
  otherwise: (store, stroke) => {
    if (typePid(store, stroke)) return;
    const { overlay } = store.view;
    const asked = overlay?.kind === 'plan' ? pidsToType(overlay.plan) : [];
    if (overlay?.kind === 'plan' && asked.length > 0 && stroke.key === 'enter') {
      const missing = pidToType(store.view);
      return store.notice(
        missing === null
          ? 'Confirmed. Press y to run, Esc to cancel.'
          : `Type ${missing} to confirm, or press Esc to cancel.`,
      );
    }
    closeSheet(store);
    if (asked.length > 0) store.notice('Cancelled; nothing was signalled.');
  },
};

export const RUNNING_KEYS: KeyActions<'running'> = {
  stop: store => {
    store.live.cancel();
    store.notice('No further signals are sent; what was signalled already may still end.');
  },
  'running-up': store => scroll(store, -1),
  'running-down': store => scroll(store, 1),
  'running-leave': closeSheet,
};
