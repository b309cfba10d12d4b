import { captionLine } from '../components/caption.ts';
import { detailLines } from '../components/detail.ts';
import { footerLine } from '../components/footer.ts';
import { headerLines } from '../components/header.ts';
import { helpLines, signalsLines } from '../components/help.ts';
import { panelLines } from '../components/panels.ts';
import { planLines, runningLines } from '../components/plan.ts';
import { tabsLine } from '../components/tabs.ts';
import { columnHeader, treeLines } from '../components/tree.ts';
import { type Line, lineToWidth, run } from './line.ts';
import type { Screen } from './screen.ts';

/** Rows between the header and the footer. */
export const bodyRows = ({ layout }: Pick<Screen, 'layout'>): number =>
  Math.max(1, layout.rows - layout.headerRows - layout.footerRows);

const overlayLines = (screen: Screen, rows: number): readonly Line[] | null => {
  const { overlay } = screen.view;
  switch (overlay?.kind) {
    case undefined:
      return null;
    case 'help':
      return helpLines(screen, rows);
    case 'signals':
      return signalsLines(overlay.cursor, screen, rows);
    // The plan is there in a moment: the screen stays as it is, the footer says what is going on.
    case 'planning':
      return null;
    case 'plan':
      return planLines(overlay, screen, rows);
    case 'running':
      return runningLines(screen, rows);
  }
};

const beside = (left: readonly Line[], right: readonly Line[], bar: string): readonly Line[] =>
  left.map((line, i) => [...line, run(bar, 'rule'), ...(right[i] ?? [])]);

const treeAndDetail = (screen: Screen): readonly Line[] => {
  const { layout, view, glyphs } = screen;
  if (view.detail && layout.detail === 'instead') return detailLines(screen);
  // On a screen too low for a panel under the tree, the panel takes the tree's place while it has the keys.
  if (!layout.tabs && view.focus !== 'tree')
    return [tabsLine(screen), ...panelLines(screen, layout.treeRows + (layout.columnRow ? 1 : 0) - 1)];
  const tree = [...(layout.columnRow ? [columnHeader(screen)] : []), ...treeLines(screen)];
  if (!view.detail) return tree;
  if (layout.detail === 'beside') return beside(tree, detailLines(screen), glyphs.bar);
  return [...tree, ...detailLines(screen)];
};

const bodyLines = (screen: Screen): readonly Line[] => {
  const { layout } = screen;
  const caption = layout.captionRows > 0 ? [captionLine(screen)] : [];
  const panel = layout.panelRows > 0 ? [tabsLine(screen), ...panelLines(screen, layout.panelRows)] : [];
  return [...treeAndDetail(screen), ...caption, ...panel];
};

/** The whole screen, row by row: exactly `layout.rows` lines of exactly `layout.columns` cells. */
export const screenLines = (screen: Screen): readonly Line[] => {
  const { layout } = screen;
  const rows = bodyRows(screen);
  const body = overlayLines(screen, rows) ?? bodyLines(screen);
  const lines = [...headerLines(screen), ...body.slice(0, rows)];
  while (lines.length < layout.rows - layout.footerRows) lines.push(lineToWidth([], layout.columns));
  return [...lines, footerLine(screen)].slice(0, layout.rows);
};
