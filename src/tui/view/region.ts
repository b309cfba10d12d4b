import { arrangementOf, bodyRows } from './layout.ts';
import type { Screen } from './screen.ts';
import { toldRows } from './told.ts';

export type RegionId =
  | 'header'
  | 'columns'
  | 'tree'
  | 'detail'
  | 'caption'
  | 'tabs'
  | 'panel'
  | 'overlay'
  | 'footer';

/** A part of the screen, and how high it is. */
interface Region {
  readonly id: RegionId;
  readonly rows: number;
}

/** A line of a region, counted from its first. */
export interface Place {
  readonly region: RegionId;
  readonly line: number;
  /** How many lines the region has. */
  readonly rows: number;
}

const treeRegions = ({ layout }: Screen): readonly Region[] => [
  { id: 'columns', rows: layout.columnRow ? 1 : 0 },
  { id: 'tree', rows: layout.treeRows },
];

/** A sheet stands in the body's place; while a plan is made, or the footer asks, the screen stays as it is. */
const isCovered = ({ view }: Screen): boolean =>
  view.overlay !== null && view.overlay.kind !== 'planning' && view.overlay.kind !== 'export';

/** The regions below one another, as the components put them; of two side by side, the left one. */
const regionsOf = (screen: Screen): readonly Region[] => {
  const { layout, view } = screen;
  const header: Region = { id: 'header', rows: layout.headerRows };
  const footer: Region = { id: 'footer', rows: layout.footerRows };
  if (isCovered(screen)) return [header, { id: 'overlay', rows: bodyRows(screen) }, footer];
  const detail: Region = { id: 'detail', rows: layout.detailRows };
  const tabs: Region = { id: 'tabs', rows: 1 };
  const body = {
    tree: () => treeRegions(screen),
    'tree beside detail': () => treeRegions(screen),
    'tree above detail': () => [...treeRegions(screen), detail],
    detail: () => [detail],
    panel: () => [tabs, { id: 'panel' as const, rows: layout.treeRows + (layout.columnRow ? 1 : 0) - 1 }],
  }[arrangementOf(layout, view)]();
  const panel: readonly Region[] =
    layout.panelRows > 0 ? [tabs, { id: 'panel', rows: layout.panelRows }] : [];
  return [header, ...body, { id: 'caption', rows: layout.captionRows }, ...panel, footer];
};

/** What stands at this cell of the screen; null beyond its edges. */
export const placeAt = (screen: Screen, column: number, row: number): Place | null => {
  const { layout, view } = screen;
  if (column < 0 || column >= layout.columns || row < 0) return null;
  // The footer keeps the last rows, whatever the rest of the screen leaves empty.
  const footer = Math.max(1, toldRows(screen).length);
  if (row >= layout.rows - footer)
    return { region: 'footer', line: row - (layout.rows - footer), rows: footer };
  const beside = !isCovered(screen) && arrangementOf(layout, view) === 'tree beside detail';
  const inDetail = row - layout.headerRows;
  if (beside && column >= layout.treeColumns && inDetail >= 0 && inDetail < layout.detailRows)
    return { region: 'detail', line: inDetail, rows: layout.detailRows };
  let top = 0;
  for (const { id, rows } of regionsOf(screen)) {
    if (row < top + rows) return { region: id, line: row - top, rows };
    top += rows;
  }
  return null;
};
