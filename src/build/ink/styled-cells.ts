import {
  type StyledChar,
  styledCharsFromTokens,
  styledCharsToString,
  tokenize,
} from '@alcalzone/ansi-tokenize';
import stringWidth from 'string-width';
import { BoundedCache } from './bounded-cache.ts';

/** A character with its styles, and how many cells Ink gives it: at least one, whatever the terminal thinks. */
export interface StyledCell {
  readonly char: StyledChar;
  readonly width: number;
}

const LINES = 500;
const lines = new BoundedCache<readonly StyledCell[]>(LINES);

const takenApart = (line: string): readonly StyledCell[] =>
  styledCharsFromTokens(tokenize(line)).map(char => ({
    char,
    width: Math.max(1, stringWidth(char.value)),
  }));

/** The line as cells: dear, and remembered. */
export const styledCells = (line: string): readonly StyledCell[] => lines.get(line, takenApart);

const BLANK: StyledChar = { type: 'char', value: ' ', fullWidth: false, styles: [] };

export interface Written {
  readonly x: number;
  readonly text: string;
}

/** A row as Ink's own `Output` makes it: cell by cell, what is written later lies over what was written before. */
export const composeCells = (written: readonly Written[], width: number): string => {
  const row: (StyledChar | undefined)[] = Array.from({ length: width }, () => BLANK);
  for (const { x, text } of written) {
    let at = x;
    for (const { char, width: wide } of styledCells(text)) {
      row[at] = char;
      // The rest of a wide character is nothing, not what was there before.
      for (let rest = 1; rest < wide; rest += 1)
        row[at + rest] = { type: 'char', value: '', fullWidth: false, styles: char.styles };
      at += wide;
    }
  }
  return styledCharsToString(row.filter(cell => cell !== undefined)).trimEnd();
};
