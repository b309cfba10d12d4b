import { detailOverflow } from '../content/detail.ts';
import { panelLength } from '../content/panel.ts';
import { parentIndex } from '../view/placement.ts';
import type { Action, Controls } from './action.ts';

export const goTo = (controller: Controls, index: number): void => {
  const { rows } = controller;
  const to = Math.max(0, Math.min(rows.length - 1, index));
  const row = rows[to];
  if (row) controller.dispatch({ type: 'select', key: row.key, index: to });
};

/** Up and down move in whatever has the keys. */
export const moveBy = (controller: Controls, by: number): void => {
  const { view, screen } = controller;
  if (view.focus === 'tree') {
    goTo(controller, view.selectedIndex + by);
    return;
  }
  const last = Math.max(0, panelLength(view.focus, screen) - 1);
  // The entry after one that is over stands in its place.
  const from = view.panelLost !== null && by > 0 ? view.panelCursor - 1 : view.panelCursor;
  controller.dispatch({ type: 'panel-cursor', cursor: Math.max(0, Math.min(last, from + by)) });
};

const page = (controller: Controls): number => {
  const { layout, view } = controller;
  return Math.max(
    1,
    (view.focus === 'tree' ? layout.treeRows || layout.detailRows : layout.panelRows || layout.treeRows) - 1,
  );
};

const FAR = Number.MAX_SAFE_INTEGER;

export const scrollDetail = (controller: Controls, by: number): void => {
  const limit = detailOverflow(controller.screen);
  const to = Math.min(limit, Math.max(0, controller.view.detailScroll + by));
  controller.dispatch({ type: 'detail-scroll', to });
};

export const MOVING = {
  up: controller => moveBy(controller, -1),
  down: controller => moveBy(controller, 1),
  'page-up': controller => moveBy(controller, -page(controller)),
  'page-down': controller => moveBy(controller, page(controller)),
  home: controller => moveBy(controller, -FAR),
  end: controller => moveBy(controller, FAR),
  left: controller => {
    const { rows, view } = controller;
    const row = rows[view.selectedIndex];
    if (row?.foldable && !row.folded)
      return controller.dispatch({ type: 'fold', keys: [row.key], folded: true });
    const parent = parentIndex(rows, view.selectedIndex);
    if (parent >= 0) goTo(controller, parent);
  },
  right: controller => {
    const { rows, view } = controller;
    const row = rows[view.selectedIndex];
    if (row?.folded) return controller.dispatch({ type: 'fold', keys: [row.key], folded: false });
    if (row?.foldable) goTo(controller, view.selectedIndex + 1);
  },
  'fold-all': controller => {
    // From the inside out, so that what is hidden by a folded parent is folded as well when it opens.
    const keys = controller.rows.filter(row => row.foldable).map(row => row.key);
    controller.dispatch({ type: 'fold', keys, folded: true });
  },
  'unfold-all': controller =>
    controller.dispatch({ type: 'fold', keys: [...controller.view.folded], folded: false }),
  'detail-down': controller => scrollDetail(controller, 3),
  'detail-up': controller => scrollDetail(controller, -3),
  'filter-up': controller => moveBy(controller, -1),
  'filter-down': controller => moveBy(controller, 1),
} satisfies Record<string, Action>;
