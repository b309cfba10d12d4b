import { identityOf } from '../../model/snapshot.ts';
import { visible } from '../../model/text.ts';
import { matcher } from '../view/row-filter.ts';
import { treeRows } from '../view/rows.ts';
import { rowOptions } from '../view/state.ts';
import type { Action, Controls } from './action.ts';
import { moveBy } from './actions-moving.ts';
import { reveal } from './reveal.ts';

/** Every process that matches, in the order of the tree; what is folded away is found as well. */
const matchesOf = (controller: Controls) => {
  const matches = matcher(controller.view.search);
  if (!matches) return { rows: [], at: -1 };
  const rows = treeRows(controller.snapshot, { ...rowOptions(controller.view), folded: new Set() });
  const at = rows.findIndex(row => row.key === controller.view.selected);
  return { rows: rows.flatMap((row, i) => (row.process && matches(row.process) ? [{ row, i }] : [])), at };
};

/** The first match from the selection on, or after it; then from the top again. */
const goToMatch = (controller: Controls, after: boolean): void => {
  const { rows, at } = matchesOf(controller);
  const found = rows.find(({ i }) => (after ? i > at : i >= at)) ?? rows[0];
  if (!found) controller.notice(`Nothing matches "${controller.view.search}".`);
  else reveal(controller, identityOf(found.row.process!));
};

const search = (controller: Controls, text: string): void => {
  controller.dispatch({ type: 'search', text });
  if (text !== '') goToMatch(controller, false);
};

export const typeSearch = (controller: Controls, text: string): void =>
  search(controller, controller.view.search + visible(text));

export const SEARCHING = {
  'filter-search': controller => {
    const { filter } = controller.view;
    controller.dispatch({ type: 'search-open' });
    if (filter !== '') goToMatch(controller, false);
  },
  'search-next': controller => goToMatch(controller, true),
  'search-filter': controller => controller.dispatch({ type: 'search-filter' }),
  'search-leave': controller => controller.dispatch({ type: 'filter-close', keep: true }),
  'search-erase': controller => search(controller, [...controller.view.search].slice(0, -1).join('')),
  'search-up': controller => moveBy(controller, -1),
  'search-down': controller => moveBy(controller, 1),
} satisfies Record<string, Action>;
