import { THEME_CHOICES } from '../../model/look.ts';
import { columnsOn, type SetupItem, setupItems } from '../view/setup.ts';
import type { Action, Controls } from './action.ts';
import { stepInterval } from './actions-looking.ts';

const itemAt = (controller: Controls): SetupItem | null => {
  const { overlay } = controller.view;
  return overlay?.kind === 'setup' ? (setupItems(controller.screen)[overlay.cursor] ?? null) : null;
};

export const moveSetup = (controller: Controls, to: number): void => {
  const { overlay } = controller.view;
  if (overlay?.kind !== 'setup') return;
  const last = setupItems(controller.screen).length - 1;
  const cursor = Math.max(0, Math.min(last, to));
  controller.dispatch({ type: 'overlay', overlay: { ...overlay, cursor } });
};

const cursorOf = ({ view }: Controls): number => (view.overlay?.kind === 'setup' ? view.overlay.cursor : 0);

type By = 1 | -1;

const stepTheme = (controller: Controls, by: By): void => {
  const at = THEME_CHOICES.indexOf(controller.view.look.theme);
  const theme = THEME_CHOICES[(at + by + THEME_CHOICES.length) % THEME_CHOICES.length]!;
  controller.dispatch({ type: 'look', look: { theme } });
};

const toggleMouse = (controller: Controls): void =>
  controller.dispatch({ type: 'look', look: { mouse: !controller.view.look.mouse } });

const toggleAutomatic = (controller: Controls): void => {
  const columns = controller.view.look.columns ? null : columnsOn(controller.screen);
  controller.dispatch({ type: 'look', look: { columns } });
};

/** One place to the left or right on the screen; the cursor goes with it. */
const moveColumn = (
  controller: Controls,
  by: By,
  { id, on }: Extract<SetupItem, { kind: 'column' }>,
): void => {
  const columns = [...columnsOn(controller.screen)];
  const at = columns.indexOf(id);
  const to = at + by;
  if (!on || to < 0 || to >= columns.length) return;
  columns.splice(at, 1);
  columns.splice(to, 0, id);
  controller.dispatch({ type: 'look', look: { columns } });
  moveSetup(controller, cursorOf(controller) + by);
};

const toggleColumn = (controller: Controls, { id, on }: Extract<SetupItem, { kind: 'column' }>): void => {
  const columns = columnsOn(controller.screen);
  const next = on ? columns.filter(one => one !== id) : [...columns, id];
  controller.dispatch({ type: 'look', look: { columns: next } });
  const at = setupItems(controller.screen).findIndex(item => item.kind === 'column' && item.id === id);
  moveSetup(controller, at);
};

const step = (controller: Controls, by: By): void => {
  const item = itemAt(controller);
  if (item?.kind === 'theme') stepTheme(controller, by);
  else if (item?.kind === 'interval') stepInterval(controller, by);
  else if (item?.kind === 'mouse') toggleMouse(controller);
  else if (item?.kind === 'columns') toggleAutomatic(controller);
  else if (item) moveColumn(controller, by, item);
};

const toggle = (controller: Controls): void => {
  const item = itemAt(controller);
  if (item?.kind === 'column') toggleColumn(controller, item);
  else step(controller, 1);
};

const close = (controller: Controls): void => controller.dispatch({ type: 'overlay', overlay: null });

const save: Action = controller => {
  const { theme, columns, mouse } = controller.view.look;
  const interval = controller.live.getState().intervalSeconds;
  controller.live.saveSettings({ theme, columns, mouse, interval }).then(
    said => {
      close(controller);
      controller.notice(said, 'good');
    },
    (error: unknown) => controller.notice(error instanceof Error ? error.message : String(error), 'bad'),
  );
};

/** Everything as it was when the setup screen was opened. */
const leave: Action = controller => {
  const { overlay } = controller.view;
  if (overlay?.kind !== 'setup') return;
  const { look, interval } = overlay.before;
  const { background } = controller.view.look;
  controller.dispatch({ type: 'look', look: { ...look, background } });
  if (controller.live.getState().intervalSeconds !== interval) controller.live.setInterval(interval);
  close(controller);
};

export const SETTING_UP = {
  setup: controller => {
    const before = { look: controller.view.look, interval: controller.live.getState().intervalSeconds };
    controller.dispatch({ type: 'overlay', overlay: { kind: 'setup', cursor: 0, before } });
  },
  'setup-up': controller => moveSetup(controller, cursorOf(controller) - 1),
  'setup-down': controller => moveSetup(controller, cursorOf(controller) + 1),
  'setup-less': controller => step(controller, -1),
  'setup-more': controller => step(controller, 1),
  'setup-toggle': toggle,
  'setup-save': save,
  'setup-leave': leave,
} satisfies Record<string, Action>;
