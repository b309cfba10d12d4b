import { visible } from '../../model/text.ts';
import type { Action, Controls } from './action.ts';
import { ACTING, typePid } from './actions-acting.ts';
import { LOOKING } from './actions-looking.ts';
import { MOVING } from './actions-moving.ts';
import { SEARCHING, typeSearch } from './actions-searching.ts';
import { SETTING_UP } from './actions-setup.ts';
import { TAKING } from './actions-taking.ts';
import { type Context, contextOf } from './context.ts';
import { type BindingName, bindingFor } from './keymap.ts';
import { handleMouse } from './mouse.ts';
import type { Keystroke } from './reader.ts';

/** What each binding does. The compiler asks for the missing entry. */
export const ACTIONS = {
  ...MOVING,
  ...LOOKING,
  ...ACTING,
  ...SETTING_UP,
  ...TAKING,
  ...SEARCHING,
} satisfies Record<BindingName, Action>;

const typeFilter = (controller: Controls, text: string): void => {
  const { filter } = controller.view;
  controller.dispatch({ type: 'filter', text: filter + visible(text) });
  const { rows } = controller;
  const current = rows[controller.view.selectedIndex];
  if (current?.process && !current.context) return;
  const index = rows.findIndex(row => row.process && !row.context);
  if (index >= 0) controller.dispatch({ type: 'select', key: rows[index]!.key, index });
};

const leave = (controller: Controls): void => controller.dispatch({ type: 'overlay', overlay: null });

/** What a key that nothing is bound to does, where that is something. */
const OTHERWISE: Partial<Record<Context, Action>> = {
  filter: (controller, { text }) => {
    if (text !== '') typeFilter(controller, text);
  },
  plan: (controller, stroke) => {
    if (!typePid(controller, stroke)) leave(controller);
  },
  search: (controller, { text }) => {
    if (text !== '') typeSearch(controller, text);
  },
  export: leave,
  entry: leave,
  help: leave,
  signals: leave,
};

/** Keys that work wherever we are. */
const ANYWHERE: Readonly<Record<string, Action>> = {
  'ctrl-c': controller => controller.quit(130),
  'ctrl-z': controller => controller.suspend(),
};

export const handleStroke = (controller: Controls, stroke: Keystroke): void => {
  const anywhere = ANYWHERE[stroke.key];
  if (anywhere) {
    anywhere(controller, stroke);
    return;
  }
  // A focus event or a moved mouse is nobody's decision.
  if (stroke.key === 'unknown' || stroke.key === 'reply') return;
  if (stroke.key === 'mouse') {
    handleMouse(controller, stroke, handleStroke);
    return;
  }
  if (controller.view.notice) controller.dispatch({ type: 'notice', notice: null });
  const context = contextOf(controller.view);
  if (stroke.key === 'paste') {
    if (context === 'filter') typeFilter(controller, stroke.text.trim());
    else if (context === 'search') typeSearch(controller, stroke.text.trim());
    else controller.notice('A paste is not taken for keys. Press / first to filter by it.');
    return;
  }
  const binding = bindingFor(controller.view, stroke.key);
  if (!binding) {
    OTHERWISE[context]?.(controller, stroke);
    return;
  }
  const reason = binding.disabledReason?.(controller.situation) ?? null;
  if (reason === null) ACTIONS[binding.name](controller, stroke);
  // A plan that would do nothing has said so already: any key leaves it.
  else if (context === 'plan') leave(controller);
  else controller.notice(reason);
};
