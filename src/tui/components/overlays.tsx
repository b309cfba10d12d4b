import { Box } from 'ink';
import type { FC, ReactNode } from 'react';
import { helpLines } from '../content/help.ts';
import { planLines, runningLines } from '../content/plan.ts';
import { signalsLines } from '../content/signals.ts';
import { bodyRows } from '../view/layout.ts';
import type { Line } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';
import type { Overlay } from '../view/state.ts';
import { Rows } from './row.tsx';

const sheet = (lines: (screen: Screen, rows: number) => readonly Line[]): FC => {
  const of = (screen: Screen): readonly Line[] => lines(screen, bodyRows(screen));
  return (): ReactNode => (
    <Box flexDirection="column" flexGrow={1} flexShrink={0}>
      <Rows of={of} />
    </Box>
  );
};

/** What would be done, before anything is. */
export const Plan = sheet(planLines);
/** The same list while it happens. */
export const Running = sheet(runningLines);
export const Help = sheet(helpLines);
export const Signals = sheet(signalsLines);

/** What stands in the body's place. A plan is there in a moment: until then the screen stays as it is. */
export const OVERLAYS = {
  planning: null,
  plan: Plan,
  running: Running,
  help: Help,
  signals: Signals,
} satisfies Record<Overlay['kind'], FC | null>;
