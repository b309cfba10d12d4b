import { Box } from 'ink';
import type { ReactNode } from 'react';
import { detailLines } from '../content/detail.ts';
import { type Line, run } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';
import { Rows } from './row.tsx';

/** Everything about the selected process: below the tree, or in its place. */
export const Detail = (): ReactNode => <Rows of={detailLines} />;

const bar = ({ layout, glyphs }: Screen): readonly Line[] =>
  Array.from({ length: layout.detailRows }, () => [run(glyphs.bar, 'rule')]);

/** The same beside the tree, with a bar between them. */
export const DetailBeside = (): ReactNode => (
  <Box flexShrink={0}>
    <Rows of={bar} />
    <Rows of={detailLines} />
  </Box>
);
