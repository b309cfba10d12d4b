import { keyOf } from '../../model/identity.ts';
import { identityOf, type Snapshot } from '../../model/snapshot.ts';
import { keptCursor, type Shown } from './panel-entries.ts';
import { place } from './placement.ts';
import { reduce } from './reducer.ts';
import type { Row } from './row.ts';
import type { ViewState } from './state.ts';

/** What a look may have moved under the user's hands is put right; the same view where nothing has. */

/** The cursor in a panel stays on its entry. */
export const withEntry = (view: ViewState, before: Shown, now: Shown): ViewState => {
  if (view.focus === 'tree') return view;
  const kept = keptCursor(view, view.focus, before, now);
  return kept.panelCursor === view.panelCursor && kept.panelLost === view.panelLost
    ? view
    : reduce(view, { type: 'panel-kept', ...kept });
};

/** The selected row is one that is there, and in sight. */
export const withPlace = (view: ViewState, rows: readonly Row[], treeRows: number): ViewState => {
  const placed = place(view, rows, treeRows);
  return placed.selected === view.selected && placed.index === view.selectedIndex && placed.top === view.top
    ? view
    : reduce(view, { type: 'placed', ...placed });
};

/** Who has ended is marked no more. */
export const withLivingMarks = (view: ViewState, { processes }: Snapshot): ViewState => {
  if (view.marked.size === 0) return view;
  const living = new Set(processes.map(p => keyOf(identityOf(p))));
  return [...view.marked].every(key => living.has(key)) ? view : reduce(view, { type: 'keep-marks', living });
};
