import { Box } from 'ink';
import type { ReactNode } from 'react';
import { columnHeader, treeLines } from '../content/tree.ts';
import type { Screen } from '../view/screen.ts';
import { Rows } from './row.tsx';
import { useScreen } from './use-screen.ts';

const columnNames = (screen: Screen) => (screen.layout.columnRow ? [columnHeader(screen)] : []);

/** The names of the columns, and the rows in view. */
export const Tree = (): ReactNode => (
  <Box flexDirection="column" flexShrink={0} width={useScreen(({ layout }) => layout.treeColumns)}>
    <Rows of={columnNames} />
    <Rows of={treeLines} />
  </Box>
);
