import { cells } from '../../model/width.ts';
import type { Click } from './click.ts';
import type { Line, Run } from './line.ts';

/** The same piece of text, to be clicked on. */
export const clickable = (run: Run, click: Click): Run => ({ ...run, click });

/** What a click on this column of the line does; null: nothing. */
export const clickAt = (line: Line, column: number): Click | null => {
  let left = 0;
  for (const { text, click } of line) {
    const right = left + cells(text);
    if (column >= left && column < right) return click ?? null;
    left = right;
  }
  return null;
};

/** The entry of a list that the line belongs to, wherever on it the click goes. */
export const entryOf = (line: Line): number | null => {
  for (const { click } of line) if (click && 'entry' in click) return click.entry;
  return null;
};
