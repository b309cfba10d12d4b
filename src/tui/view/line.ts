import { inStyle } from '../../model/sgr.ts';
import { cells, cut } from '../../model/width.ts';
import type { Theme, Tone } from '../look/theme.ts';
import type { Click } from './click.ts';

/** A piece of text with one meaning. */
export interface Run {
  readonly text: string;
  readonly tone: Tone;
  /** What a click on it does. */
  readonly click?: Click;
}

/** One row of the screen, left to right. */
export type Line = readonly Run[];

export const run = (text: string, tone: Tone = 'plain'): Run => ({ text, tone });

export const lineWidth = (line: Line): number => line.reduce((sum, { text }) => sum + cells(text), 0);

export type Align = 'left' | 'right';

/** The text in exactly `width` cells: cut with a mark, or filled with spaces. */
export const toWidth = (text: string, width: number, align: Align = 'left', mark = '…'): string => {
  if (width <= 0) return '';
  const short = cut(text, width, mark);
  const fill = ' '.repeat(Math.max(0, width - cells(short)));
  return align === 'left' ? short + fill : fill + short;
};

/** The line in exactly `width` cells. */
export const lineToWidth = (line: Line, width: number, mark = '…'): Line => {
  const out: Run[] = [];
  let room = width;
  for (const piece of line) {
    const wide = cells(piece.text);
    if (wide > room) {
      out.push({ ...piece, text: toWidth(piece.text, room, 'left', mark) });
      return out;
    }
    if (wide > 0) out.push(piece);
    room -= wide;
  }
  if (room > 0) out.push({ text: ' '.repeat(room), tone: 'plain' });
  return out;
};

/** Left part, blank, right part; the right part gives way when both do not fit. */
export const spread = (left: Line, right: Line, width: number): Line => {
  const gap = width - lineWidth(left) - lineWidth(right);
  if (gap < 1) return lineToWidth(left, width);
  return [...left, run(' '.repeat(gap)), ...right];
};

/** Every run in one tone, for the selected row: inverse over a mixture of colours is unreadable. */
export const inTone = (line: Line, tone: Tone): Line => [
  { text: line.map(({ text }) => text).join(''), tone },
];

/** The line as the terminal wants it. Trailing plain blanks are left out: the painter erases the row first. */
export const paint = (line: Line, theme: Theme): string => {
  let out = '';
  let same = '';
  let style = '';
  for (const { text, tone } of line) {
    if (text === '') continue;
    if (theme[tone] !== style) {
      out += inStyle(same, style);
      same = '';
      style = theme[tone];
    }
    same += text;
  }
  return style === '' ? (out + same).trimEnd() : out + inStyle(same, style);
};

const isSame = (a: Line, b: Line): boolean =>
  a === b ||
  (a.length === b.length && a.every((run, i) => run.text === b[i]!.text && run.tone === b[i]!.tone));

/** The new lines, with the old objects wherever a line is what it was; the old list when all of them are. */
export const keepSame = (old: readonly Line[], fresh: readonly Line[]): readonly Line[] => {
  const kept = fresh.map((line, i) => (old[i] !== undefined && isSame(old[i], line) ? old[i] : line));
  return kept.length === old.length && kept.every((line, i) => line === old[i]) ? old : kept;
};
