import type { MouseHandlers } from '../keys/input.ts';
import { goTo } from './tree-keys.ts';

/** The tree moves under the selection, which stays in view: what x acts on is always to be seen. */
export const WHEEL: MouseHandlers = {
  wheel: (store, by) => {
    const { rows, view, layout } = store.screen;
    const top = Math.max(0, Math.min(rows.length - layout.treeRows, view.top + by));
    const index = Math.max(top, Math.min(view.selectedIndex, top + layout.treeRows - 1, rows.length - 1));
    const row = rows[index];
    if (row) store.dispatch({ type: 'placed', selected: row.key, index, top });
  },
};

/** Selects the row; a heading folds, a second click on a process opens its detail. */
export const CLICK: MouseHandlers = {
  press: (store, { row: line, double }) => {
    const { rows, view } = store.screen;
    const index = view.top + line;
    const row = rows[index];
    if (!row) return;
    if (view.focus !== 'tree') store.dispatch({ type: 'focus', focus: 'tree' });
    goTo(store, index);
    if (row.group) store.dispatch({ type: 'fold', keys: [row.key], folded: !row.folded });
    else if (double) store.dispatch({ type: 'detail', open: true });
  },
};
