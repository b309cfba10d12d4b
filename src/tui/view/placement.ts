import type { IdentityKey } from '../../model/identity.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { Row, RowOptions } from './row.ts';
import { treeRows } from './rows.ts';
import type { ViewState } from './state.ts';

export interface Placement {
  readonly selected: string | null;
  readonly index: number;
  readonly top: number;
}

/** Keeps the selection on its row, or on the row that took its place, and in view. */
export const place = (
  view: Pick<ViewState, 'selected' | 'selectedIndex' | 'top'>,
  rows: readonly Row[],
  height: number,
): Placement => {
  if (rows.length === 0) return { selected: view.selected, index: 0, top: 0 };
  const there = rows[view.selectedIndex]?.key === view.selected;
  const found = there ? view.selectedIndex : rows.findIndex(row => row.key === view.selected);
  const index = found >= 0 ? found : Math.min(view.selectedIndex, rows.length - 1);
  if (height < 1) return { selected: rows[index]!.key, index, top: view.top };
  const lowest = Math.max(0, rows.length - height);
  const top = Math.min(lowest, Math.max(index - height + 1, Math.min(view.top, index)));
  return { selected: rows[index]!.key, index, top };
};

/** Index of the row this one hangs below; -1 for a heading. */
export const parentIndex = (rows: readonly Row[], index: number): number => {
  const depth = rows[index]?.trail.length ?? 0;
  for (let i = index - 1; i >= 0; i -= 1) if (rows[i]!.trail.length < depth) return i;
  return -1;
};

/** Keys to unfold so that the row of this process is shown; null when no row of the snapshot is it. */
export const foldsAbove = (
  snapshot: Snapshot,
  key: IdentityKey,
  options: RowOptions,
): readonly string[] | null => {
  const rows = treeRows(snapshot, { ...options, folded: new Set() });
  const index = rows.findIndex(row => row.key === key);
  if (index < 0) return null;
  const above: string[] = [];
  for (let i = parentIndex(rows, index); i >= 0; i = parentIndex(rows, i)) above.push(rows[i]!.key);
  return above;
};

/** The first entry in view of a list with a cursor: the cursor stays in sight. */
export const windowTop = (cursor: number, count: number, rows: number): number =>
  Math.max(0, Math.min(cursor - Math.floor(rows / 2), count - rows));
