import type { Line } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';
import type { Overlay } from '../view/state.ts';
import { entryLines } from './entry.ts';
import { helpLines } from './help.ts';
import { planLines, runningLines } from './plan.ts';
import { setupLines } from './setup.ts';
import { signalsLines } from './signals.ts';

/** What a sheet over the body shows in so many rows. */
export type SheetLines = (screen: Screen, rows: number) => readonly Line[];

/** What stands in the body's place. A plan is there in a moment: until then the screen stays as it is. */
export const SHEETS = {
  planning: null,
  export: null,
  plan: planLines,
  running: runningLines,
  help: helpLines,
  entry: entryLines,
  signals: signalsLines,
  setup: setupLines,
} satisfies Record<Overlay['kind'], SheetLines | null>;
