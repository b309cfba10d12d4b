export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface Layout extends Size {
  readonly headerRows: number;
  /** The last row of the header is the time line: the past is shown. */
  readonly timeLine: boolean;
  readonly columnRow: boolean;
  /** Regions have a line around them. */
  readonly framed: boolean;
  readonly treeRows: number;
  /** Inside its frame. */
  readonly treeColumns: number;
  /** Tabs above the panel; on a small screen a panel takes the tree's place instead. */
  readonly tabs: boolean;
  readonly panelRows: number;
  /** Where the detail goes: beside the tree, under it, or in its place. */
  readonly detail: 'beside' | 'below' | 'instead';
  /** With its title; without its frame. */
  readonly detailRows: number;
  readonly detailColumns: number;
  readonly footerRows: number;
}

/** Narrower than this a detail beside the tree would leave neither readable. */
const BESIDE_COLUMNS = 132;
/** Lower than this there is no room for a panel under the tree. */
const PANEL_ROWS = 18;
const BELOW_ROWS = 30;

/** Smaller than this a frame takes more than it gives. */
const FRAME_COLUMNS = 56;

/** Lower than this the header has one row, which includes the recorded time. */
const TIME_LINE_ROWS = 12;

const headerRowsFor = ({ columns, rows }: Size): number => {
  if (rows < TIME_LINE_ROWS) return 1;
  return columns < 72 ? 3 : 2;
};

/** What the panel below the tree would fill. */
export interface PanelNeeds {
  readonly rows: number;
  /** It has the keys. */
  readonly focused: boolean;
}

/** The tree comes first: a panel takes what it needs, up to a part of the screen; more while it has the keys. */
const panelRowsFor = (rows: number, needs: PanelNeeds): number => {
  const most = needs.focused ? Math.round(rows * 0.3) : Math.min(10, Math.round(rows * 0.15));
  return Math.max(needs.focused ? 3 : 1, Math.min(needs.rows, Math.max(3, most)));
};

/** What goes where on a screen of this size. Sizes people use: 40×10, 60×40, 80×24, 120×40, 200×50. */
export const layoutFor = (
  size: Size,
  detailOpen: boolean,
  past = false,
  needs: PanelNeeds = { rows: Number.POSITIVE_INFINITY, focused: false },
): Layout => {
  const { columns, rows } = size;
  const timeLine = past && rows >= TIME_LINE_ROWS;
  const headerRows = headerRowsFor(size) + (timeLine ? 1 : 0);
  const columnRow = rows >= 8;
  const footerRows = 1;
  const tabs = rows >= PANEL_ROWS;
  const framed = tabs && columns >= FRAME_COLUMNS;
  // Of one region: both sides, or its upper and lower edge.
  const edges = framed ? 2 : 0;
  const body = Math.max(1, rows - headerRows - footerRows);
  const names = columnRow ? 1 : 0;
  const detail = columns >= BESIDE_COLUMNS ? 'beside' : rows >= BELOW_ROWS ? 'below' : 'instead';
  const base = { ...size, headerRows, timeLine, columnRow, footerRows, tabs, framed, detail } as const;
  if (!detailOpen || detail === 'beside') {
    const panelRows = tabs ? panelRowsFor(rows, needs) : 0;
    const panel = tabs ? panelRows + (framed ? 2 : 1) : 0;
    const treeRows = Math.max(1, body - panel - edges - names);
    const beside = detailOpen ? Math.min(96, Math.max(56, Math.floor(columns * 0.4))) : 0;
    return {
      ...base,
      treeRows,
      treeColumns: columns - beside - (framed || !detailOpen ? edges : 1),
      panelRows,
      detailRows: detailOpen ? treeRows + names + edges : 0,
      detailColumns: beside,
    };
  }
  const detailRows = detail === 'below' ? Math.floor(body * 0.55) : body;
  const treeRows = detail === 'below' ? Math.max(1, body - detailRows - edges - names) : 0;
  return {
    ...base,
    treeRows,
    treeColumns: columns - edges,
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
