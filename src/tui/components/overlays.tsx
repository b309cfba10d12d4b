import { Box } from 'ink';
import type { FC, ReactNode } from 'react';
import { SHEETS, type SheetLines } from '../content/sheets.ts';
import { bodyRows } from '../view/layout.ts';
import type { Line } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';
import type { Overlay } from '../view/state.ts';
import { Rows } from './row.tsx';

/** A component once per sheet: made anew at each frame it would be mounted anew. */
const sheet = (lines: SheetLines): FC => {
  const of = (screen: Screen): readonly Line[] => lines(screen, bodyRows(screen));
  return (): ReactNode => (
    <Box flexDirection="column" flexGrow={1} flexShrink={0}>
      <Rows of={of} />
    </Box>
  );
};

/** The sheets as components, in place of the body. */
export const OVERLAYS = Object.fromEntries(
  Object.entries(SHEETS).map(([kind, lines]) => [kind, lines && sheet(lines)]),
) as Readonly<Record<Overlay['kind'], FC | null>>;
