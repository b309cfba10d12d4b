import type { RememberedSession } from '../../model/asleep.ts';
import type { Action } from '../keys/input.ts';
import { findingToFix } from '../screen.ts';
import { type Focus, PANELS } from '../state.ts';
import type { Store } from '../store.ts';
import { reveal } from '../tree/tree-keys.ts';
import { entryUnderCursor, isPanelShown } from './panel-entries.ts';

const FOCUS: readonly Focus[] = ['tree', ...PANELS];

const stepFocus = (store: Store, by: 1 | -1): void => {
  const shown = FOCUS.filter(focus => focus === 'tree' || isPanelShown(focus, store.screen));
  const at = shown.indexOf(store.view.focus);
  if (store.view.detail) store.dispatch({ type: 'detail', open: false });
  store.dispatch({ type: 'focus', focus: shown[(at + by + shown.length) % shown.length]! });
};

export const wake = (store: Store, session: RememberedSession): void => {
  const { live } = store;
  store.notice(live.wake === undefined ? 'Nothing can be woken here.' : 'Waking it…');
  live.wake?.(session).then(
    text => store.notice(text),
    (error: unknown) => store.notice(`It failed: ${(error as Error).message}`, 'bad'),
  );
};

/** Enter in a panel goes to the process of the entry. */
export const enterPanel = (store: Store): void => {
  const { view, screen } = store;
  const line = entryUnderCursor('log', screen, view);
  if (line?.entry) {
    store.dispatch({ type: 'overlay', overlay: { kind: 'entry', line } });
    return;
  }
  const session = entryUnderCursor('asleep', screen, view);
  if (session !== null) {
    wake(store, session);
    return;
  }
  const identity =
    entryUnderCursor('findings', screen, view)?.processes[0] ??
    entryUnderCursor('heartbeats', screen, view)?.agent ??
    (view.focus === 'heartbeats' ? findingToFix(screen)?.processes[0] : undefined) ??
    line?.about;
  if (!identity) {
    store.notice('No process of this entry is running.');
    return;
  }
  store.dispatch({ type: 'focus', focus: 'tree' });
  if (!reveal(store, identity)) store.notice('That process is gone, or hidden: a shows all.');
};

const acknowledge: Action = store => {
  const { view, screen, live } = store;
  const line = entryUnderCursor('log', screen, view);
  if (view.focus === 'log') {
    const taken = line?.acknowledged === undefined ? undefined : live.takeBack?.(line.acknowledged);
    return store.notice(taken ?? 'Only an acknowledged finding can be taken back.');
  }
  const { finding } = store.keyContext;
  if (finding !== null) store.notice(live.acknowledge?.(finding) ?? 'Nothing can be acknowledged here.');
};

export const PANEL_KEYS = {
  acknowledge,
  'next-panel': store => stepFocus(store, 1),
  'previous-panel': store => stepFocus(store, -1),
} satisfies Record<string, Action>;
