import { identityOf } from '../../model/snapshot.ts';
import { visible } from '../../model/text.ts';
import type { OtherKeys } from '../keys/input.ts';
import type { KeyActions } from '../keys/use-keys.ts';
import { rowOptions } from '../state.ts';
import type { Store } from '../store.ts';
import { matcher } from './row-order.ts';
import { treeRows } from './rows.ts';
import { moveBy, reveal } from './tree-keys.ts';

const typeFilter = (store: Store, text: string): void => {
  const { filter } = store.view;
  store.dispatch({ type: 'filter', text: filter + visible(text) });
  const { rows } = store;
  const current = rows[store.view.selectedIndex];
  if (current?.process && !current.context) return;
  const index = rows.findIndex(row => row.process && !row.context);
  if (index >= 0) store.dispatch({ type: 'select', key: rows[index]!.key, index });
};

export const FILTER_KEYS: KeyActions<'filter'> = {
  'filter-keep': store => store.dispatch({ type: 'filter-close', keep: true }),
  'filter-clear': store => store.dispatch({ type: 'filter-close', keep: false }),
  'filter-erase': store =>
    store.dispatch({ type: 'filter', text: [...store.view.filter].slice(0, -1).join('') }),
  'filter-up': store => moveBy(store, -1),
  'filter-down': store => moveBy(store, 1),
  'filter-search': store => {
    const { filter } = store.view;
    store.dispatch({ type: 'search-open' });
    if (filter !== '') goToMatch(store, false);
  },
};

export const TYPED_FILTER: OtherKeys = {
  otherwise: (store, { text }) => {
    if (text !== '') typeFilter(store, text);
  },
  paste: (store, { text }) => typeFilter(store, text.trim()),
};

/** Every process that matches, in the order of the tree; what is folded away is found as well. */
const matchesOf = (store: Store) => {
  const matches = matcher(store.view.search);
  if (!matches) return { rows: [], at: -1 };
  const rows = treeRows(store.snapshot, {
    ...rowOptions(store.view),
    folded: new Set(),
    opened: 'all',
  });
  const at = rows.findIndex(row => row.key === store.view.selected);
  return { rows: rows.flatMap((row, i) => (row.process && matches(row.process) ? [{ row, i }] : [])), at };
};

/** The first match from the selection on, or after it; then from the top again. */
const goToMatch = (store: Store, after: boolean): void => {
  const { rows, at } = matchesOf(store);
  const found = rows.find(({ i }) => (after ? i > at : i >= at)) ?? rows[0];
  if (!found) store.notice(`Nothing matches "${store.view.search}".`);
  else reveal(store, identityOf(found.row.process!));
};

const search = (store: Store, text: string): void => {
  store.dispatch({ type: 'search', text });
  if (text !== '') goToMatch(store, false);
};

const typeSearch = (store: Store, text: string): void => search(store, store.view.search + visible(text));

export const SEARCH_KEYS: KeyActions<'search'> = {
  'search-next': store => goToMatch(store, true),
  'search-filter': store => store.dispatch({ type: 'search-filter' }),
  'search-leave': store => store.dispatch({ type: 'filter-close', keep: true }),
  'search-erase': store => search(store, [...store.view.search].slice(0, -1).join('')),
  'search-up': store => moveBy(store, -1),
  'search-down': store => moveBy(store, 1),
};

export const TYPED_SEARCH: OtherKeys = {
  otherwise: (store, { text }) => {
    if (text !== '') typeSearch(store, text);
  },
  paste: (store, { text }) => typeSearch(store, text.trim()),
};
