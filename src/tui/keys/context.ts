import type { ViewState } from '../view/state.ts';
import type { Context } from './keymap.ts';

/** Which bindings the keys mean now. */
export const contextOf = (view: ViewState): Context => {
  if (view.overlay) return view.overlay.kind === 'planning' ? 'plan' : view.overlay.kind;
  return view.filterOpen ? 'filter' : 'main';
};
