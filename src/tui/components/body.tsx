import { Box } from 'ink';
import type { FC, ReactNode } from 'react';
import { type Arrangement, arrangementOf } from '../view/layout.ts';
import { Detail, DetailBeside } from './detail.tsx';
import { PanelInstead } from './panel.tsx';
import { Tree } from './tree.tsx';
import { useScreen } from './use-screen.ts';

const ARRANGEMENTS = {
  tree: Tree,
  detail: Detail,
  panel: PanelInstead,
  'tree beside detail': () => (
    <Box>
      <Tree />
      <DetailBeside />
    </Box>
  ),
  'tree above detail': () => (
    <>
      <Tree />
      <Detail />
    </>
  ),
} satisfies Record<Arrangement, FC>;

/** The tree and the detail pane, as the size of the screen allows. */
export const Body = (): ReactNode => {
  const Arranged = ARRANGEMENTS[useScreen(({ layout, view }) => arrangementOf(layout, view))];
  return (
    <Box flexDirection="column" flexGrow={1} flexShrink={0}>
      <Arranged />
    </Box>
  );
};
