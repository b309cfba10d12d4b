import { THEME_CHOICES } from '../../model/ui-settings.ts';
import type { Action } from '../keys/input.ts';
import type { KeyActions } from '../keys/use-keys.ts';
import type { Store } from '../store.ts';
import { closeSheet } from '../ui/sheet.tsx';
import { columnsOn, type SetupItem, setupItems } from './setup-items.ts';

/** Seconds between two refreshes that `+` and `-` step through. */
const INTERVALS = [0.5, 1, 2, 3, 5, 10, 30, 60];

export const stepInterval = (store: Store, by: 1 | -1): void => {
  const now = store.live.getState().intervalSeconds;
  const next = by > 0 ? INTERVALS.find(s => s > now) : INTERVALS.findLast(s => s < now);
  if (next === undefined) store.notice(`The interval stays at ${now} s: that is the limit.`);
  else store.live.setInterval(next);
};

const itemAt = (store: Store): SetupItem | null => {
  const { overlay } = store.view;
  return overlay?.kind === 'setup' ? (setupItems(store.screen)[overlay.cursor] ?? null) : null;
};

export const moveSetup = (store: Store, to: number): void => {
  const { overlay } = store.view;
  if (overlay?.kind !== 'setup') return;
  const last = setupItems(store.screen).length - 1;
  const cursor = Math.max(0, Math.min(last, to));
  store.dispatch({ type: 'overlay', overlay: { ...overlay, cursor } });
};

const cursorOf = ({ view }: Store): number => (view.overlay?.kind === 'setup' ? view.overlay.cursor : 0);

type By = 1 | -1;

const stepTheme = (store: Store, by: By): void => {
  const at = THEME_CHOICES.indexOf(store.view.look.theme);
  const theme = THEME_CHOICES[(at + by + THEME_CHOICES.length) % THEME_CHOICES.length]!;
  store.dispatch({ type: 'look', look: { theme } });
};

const toggleMouse = (store: Store): void =>
  store.dispatch({ type: 'look', look: { mouse: !store.view.look.mouse } });

const toggleAutomatic = (store: Store): void => {
  const columns = store.view.look.columns ? null : columnsOn(store.screen);
  store.dispatch({ type: 'look', look: { columns } });
};

/** One place to the left or right on the screen; the cursor goes with it. */
const moveColumn = (store: Store, by: By, { id, on }: Extract<SetupItem, { kind: 'column' }>): void => {
  const columns = [...columnsOn(store.screen)];
  const at = columns.indexOf(id);
  const to = at + by;
  if (!on || to < 0 || to >= columns.length) return;
  columns.splice(at, 1);
  columns.splice(to, 0, id);
  store.dispatch({ type: 'look', look: { columns } });
  moveSetup(store, cursorOf(store) + by);
};

const toggleColumn = (store: Store, { id, on }: Extract<SetupItem, { kind: 'column' }>): void => {
  const columns = columnsOn(store.screen);
  const next = on ? columns.filter(one => one !== id) : [...columns, id];
  store.dispatch({ type: 'look', look: { columns: next } });
  const at = setupItems(store.screen).findIndex(item => item.kind === 'column' && item.id === id);
  moveSetup(store, at);
};

const step = (store: Store, by: By): void => {
  const item = itemAt(store);
  if (item?.kind === 'theme') stepTheme(store, by);
  else if (item?.kind === 'interval') stepInterval(store, by);
  else if (item?.kind === 'mouse') toggleMouse(store);
  else if (item?.kind === 'columns') toggleAutomatic(store);
  else if (item) moveColumn(store, by, item);
};

const toggle = (store: Store): void => {
  const item = itemAt(store);
  if (item?.kind === 'column') toggleColumn(store, item);
  else step(store, 1);
};

const save: Action = store => {
  const { theme, columns, mouse } = store.view.look;
  const interval = store.live.getState().intervalSeconds;
  store.live.saveSettings({ theme, columns, mouse, interval }).then(
    said => {
      closeSheet(store);
      store.notice(said, 'good');
    },
    (error: unknown) => store.notice(error instanceof Error ? error.message : String(error), 'bad'),
  );
};

/** Everything as it was when the setup screen was opened. */
const leave: Action = store => {
  const { overlay } = store.view;
  if (overlay?.kind !== 'setup') return;
  const { look, interval } = overlay.before;
  const { background } = store.view.look;
  store.dispatch({ type: 'look', look: { ...look, background } });
  if (store.live.getState().intervalSeconds !== interval) store.live.setInterval(interval);
  closeSheet(store);
};

export const SETUP_KEY = {
  setup: store => {
    const before = { look: store.view.look, interval: store.live.getState().intervalSeconds };
    store.dispatch({ type: 'overlay', overlay: { kind: 'setup', cursor: 0, before } });
  },
} satisfies Record<string, Action>;

export const SETUP_KEYS: KeyActions<'setup'> = {
  'setup-up': store => moveSetup(store, cursorOf(store) - 1),
  'setup-down': store => moveSetup(store, cursorOf(store) + 1),
  'setup-less': store => step(store, -1),
  'setup-more': store => step(store, 1),
  'setup-toggle': toggle,
  'setup-save': save,
  'setup-leave': leave,
};
