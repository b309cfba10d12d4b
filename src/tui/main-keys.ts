import type { TimeStep } from '../engine/live-state.ts';
import { keyOf } from '../model/identity.ts';
import { COPY_KEYS } from './copy.ts';
import { DETAIL_KEYS } from './detail/detail.tsx';
import { EXPORT_KEY } from './export.tsx';
import { HELP_KEY } from './help/help.tsx';
import { inPane } from './keys/bindings.ts';
import type { KeyActions } from './keys/use-keys.ts';
import { enterPanel, PANEL_KEYS, wake } from './panels/panel-keys.ts';
import { PLAN_KEYS } from './plan/plan-keys.ts';
import { selectedRow } from './screen.ts';
import { SETUP_KEY, stepInterval } from './setup/setup-keys.ts';
import { SIGNAL_KEY } from './signals.tsx';
import type { Store } from './store.ts';
import { reveal, TREE_KEYS } from './tree/tree-keys.ts';

/** The past is not frozen: stepping through it must show. */
const travel = (store: Store, step: TimeStep): void => {
  if (store.view.frozen !== null) store.dispatch({ type: 'freeze', snapshot: null });
  const travelled = store.live.travel?.(step) ?? Promise.resolve('There is no recording of this.');
  travelled.then(
    sentence => {
      if (sentence !== null) store.notice(sentence);
    },
    (error: unknown) => store.notice(error instanceof Error ? error.message : String(error), 'bad'),
  );
};

/** The keys of the main screen, wherever their feature is. */
export const MAIN_KEYS: KeyActions<'main'> = {
  ...TREE_KEYS,
  ...DETAIL_KEYS,
  ...PANEL_KEYS,
  ...PLAN_KEYS,
  ...SIGNAL_KEY,
  ...SETUP_KEY,
  ...EXPORT_KEY,
  ...COPY_KEYS,
  ...HELP_KEY,
  'time-back': store => travel(store, 'back'),
  'time-forward': store => travel(store, 'forward'),
  'mark-back': store => travel(store, 'mark-back'),
  'mark-forward': store => travel(store, 'mark-forward'),
  filter: store => store.dispatch({ type: 'filter-open' }),
  search: store => {
    store.dispatch({ type: 'filter-open' });
    store.dispatch({ type: 'search-open' });
  },
  detail: store => {
    if (store.view.focus !== 'tree') return enterPanel(store);
    const asleep = selectedRow(store.screen)?.asleep;
    if (asleep !== undefined) return wake(store, asleep);
    store.dispatch({ type: 'detail', open: !store.view.detail });
  },
  pane: store => {
    const target = inPane(store.keyContext);
    if (!target) return;
    const identity = { pid: target.facts.pid, start: target.facts.start };
    const attach = store.live.attachment?.(identity) ?? null;
    const shown =
      attach === null || store.terminal.lend === undefined
        ? store.live.jump(identity)
        : store.terminal.lend(attach);
    shown.then(
      said => store.notice(said, 'plain'),
      (error: unknown) => store.notice(error instanceof Error ? error.message : String(error), 'bad'),
    );
  },
  peek: store => {
    const target = inPane(store.keyContext);
    if (!target || !store.live.peek) return;
    const identity = { pid: target.facts.pid, start: target.facts.start };
    store.live.peek(identity).then(
      found => {
        if (typeof found === 'string') return store.notice(found);
        store.dispatch({ type: 'peek', key: keyOf(identity), lines: found });
        if (store.view.focus !== 'tree') {
          store.dispatch({ type: 'focus', focus: 'tree' });
          reveal(store, identity);
        }
        store.dispatch({ type: 'detail', open: true });
      },
      (error: unknown) => store.notice(error instanceof Error ? error.message : String(error), 'bad'),
    );
  },
  all: store => {
    const all = !store.view.all;
    store.live.setAll(all);
    store.dispatch({ type: 'all', all });
  },
  freeze: store => {
    // The view freezes, not the engine: history and lineage go on.
    const snapshot = store.view.frozen === null ? store.live.getState().snapshot : null;
    store.dispatch({ type: 'freeze', snapshot });
  },
  longer: store => stepInterval(store, 1),
  shorter: store => stepInterval(store, -1),
  refresh: store => {
    store.live.refresh();
    store.terminal.redraw();
  },
  back: store => {
    const { detail, focus, filter, listedFrom } = store.view;
    if (detail) store.dispatch({ type: 'detail', open: false });
    else if (focus !== 'tree') store.dispatch({ type: 'focus', focus: 'tree' });
    else if (filter !== '') store.dispatch({ type: 'filter-close', keep: false });
    else if (listedFrom !== null) store.dispatch({ type: 'leave-list' });
    else if (store.live.getState().moment) travel(store, 'now');
  },
  quit: store => {
    const { running } = store.live.getState();
    const cutsShort = running !== null && !running.done && store.view.quitting !== running.plan;
    if (!cutsShort) return store.terminal.quit(0);
    store.dispatch({ type: 'quitting', plan: running.plan });
    store.notice('A plan is still running: q again quits and sends no further signal.');
  },
  interrupt: store => store.terminal.quit(130),
  suspend: store => store.terminal.suspend(),
};
