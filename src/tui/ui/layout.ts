export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface Layout extends Size {
  readonly headerRows: number;
  /** The last row of the header is the time line: the past is shown. */
  readonly timeLine: boolean;
  readonly columnRow: boolean;
  readonly treeRows: number;
  readonly treeColumns: number;
  /** The row of tabs above the panel; on a small screen a panel takes the tree's place instead. */
  readonly tabs: boolean;
  readonly panelRows: number;
  /** Where the detail goes: beside the tree, under it, or in its place. */
  readonly detail: 'beside' | 'below' | 'instead';
  readonly detailRows: number;
  readonly detailColumns: number;
  readonly footerRows: number;
  /** A row under the tree with what the selected row has no room for. */
  readonly captionRows: number;
}

/** Narrower than this a detail beside the tree would leave neither readable. */
const BESIDE_COLUMNS = 132;
/** Lower than this there is no room for a panel under the tree. */
const PANEL_ROWS = 18;
const BELOW_ROWS = 30;
/** From here on the rows of the tree say enough themselves. */
const CAPTION_COLUMNS = 110;

/** Lower than this the header has one row, which includes the recorded time. */
const TIME_LINE_ROWS = 12;

const headerRowsFor = ({ columns, rows }: Size): number => {
  if (rows < TIME_LINE_ROWS) return 1;
  return columns < 72 ? 3 : 2;
};

/** What goes where on a screen of this size. Sizes people use: 40×10, 60×40, 80×24, 120×40, 200×50. */
export const layoutFor = (size: Size, detailOpen: boolean, past = false): Layout => {
  const { columns, rows } = size;
  const timeLine = past && rows >= TIME_LINE_ROWS;
  const headerRows = headerRowsFor(size) + (timeLine ? 1 : 0);
  const columnRow = rows >= 8;
  const footerRows = 1;
  const body = Math.max(1, rows - headerRows - (columnRow ? 1 : 0) - footerRows);
  const tabs = rows >= PANEL_ROWS;
  const detail = columns >= BESIDE_COLUMNS ? 'beside' : rows >= BELOW_ROWS ? 'below' : 'instead';
  const wanted = Math.min(12, Math.max(4, Math.round(rows * 0.2)));
  const base = { ...size, headerRows, timeLine, columnRow, footerRows, tabs, detail } as const;
  if (!detailOpen || detail === 'beside') {
    const panelRows = tabs ? wanted : 0;
    const captionRows = tabs && columns < CAPTION_COLUMNS ? 1 : 0;
    const treeRows = body - captionRows - (tabs ? 1 + panelRows : 0);
    const detailColumns = detailOpen ? Math.min(96, Math.max(56, Math.floor(columns * 0.4))) : 0;
    const treeColumns = detailOpen ? columns - detailColumns - 1 : columns;
    const detailRows = detailOpen ? treeRows + (columnRow ? 1 : 0) : 0;
    return { ...base, captionRows, treeRows, treeColumns, panelRows, detailRows, detailColumns };
  }
  if (detail === 'below') {
    const detailRows = Math.floor(body * 0.55);
    const treeRows = body - detailRows;
    return {
      ...base,
      captionRows: 0,
      treeRows,
      treeColumns: columns,
      panelRows: 0,
      detailRows,
      detailColumns: columns,
    };
  }
  const detailRows = body + (columnRow ? 1 : 0);
  return {
    ...base,
    captionRows: 0,
    treeRows: 0,
    treeColumns: columns,
    panelRows: 0,
    detailRows,
    detailColumns: columns,
  };
};

/** Rows between the header and the footer. */
export const bodyRows = ({ layout }: { readonly layout: Layout }): number =>
  Math.max(1, layout.rows - layout.headerRows - layout.footerRows);

/** A sheet stands in the body's place; while a plan is made, or the footer asks, the screen stays as it is. */
export const coversBody = (overlay: { readonly kind: string } | null): boolean =>
  overlay !== null && overlay.kind !== 'planning' && overlay.kind !== 'export';

/** Which of the tree, the detail pane and the panel stand in the body now, and how. */
export type Arrangement = 'tree' | 'detail' | 'panel' | 'tree beside detail' | 'tree above detail';

export const arrangementOf = (
  layout: Layout,
  { detail, focus }: { readonly detail: boolean; readonly focus: string },
): Arrangement => {
  if (detail && layout.detail === 'instead') return 'detail';
  // On a screen too low for a panel under the tree, the panel takes the tree's place while it has the keys.
  if (!layout.tabs && focus !== 'tree') return 'panel';
  if (!detail) return 'tree';
  return layout.detail === 'beside' ? 'tree beside detail' : 'tree above detail';
};
