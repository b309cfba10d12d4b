import type { ViewState } from '../view/state.ts';

/** Where a key means something: each place has its own bindings. */
export const CONTEXTS = [
  'main',
  'filter',
  'search',
  'plan',
  'running',
  'signals',
  'setup',
  'export',
  'entry',
  'help',
] as const;
export type Context = (typeof CONTEXTS)[number];

/** Which bindings the keys mean now. */
export const contextOf = (view: ViewState): Context => {
  if (view.overlay) return view.overlay.kind === 'planning' ? 'plan' : view.overlay.kind;
  if (!view.filterOpen) return 'main';
  return view.searching ? 'search' : 'filter';
};
