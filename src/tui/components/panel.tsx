import type { ReactNode } from 'react';
import { captionLine } from '../content/caption.ts';
import { panelLines } from '../content/panel.ts';
import { tabsLine } from '../content/tabs.ts';
import type { Screen } from '../view/screen.ts';
import { Rows } from './row.tsx';

const tabs = (screen: Screen) => [tabsLine(screen)];
const caption = (screen: Screen) => (screen.layout.captionRows > 0 ? [captionLine(screen)] : []);
const belowTree = (screen: Screen) => panelLines(screen, screen.layout.panelRows);
const inPlaceOfTree = (screen: Screen) => {
  const { treeRows, columnRow } = screen.layout;
  return panelLines(screen, treeRows + (columnRow ? 1 : 0) - 1);
};

/** What the selected row of the tree has no room for. */
export const Caption = (): ReactNode => <Rows of={caption} />;

/** Findings, heartbeats or the log, below the tree. */
export const Panel = (): ReactNode => (
  <>
    <Rows of={tabs} />
    <Rows of={belowTree} />
  </>
);

/** The same on a screen too low for both. */
export const PanelInstead = (): ReactNode => (
  <>
    <Rows of={tabs} />
    <Rows of={inPlaceOfTree} />
  </>
);
