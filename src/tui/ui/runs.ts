import { cells, cut, inStyle } from '../../model/text.ts';
import type { PanelId } from '../state.ts';
import type { Store } from '../store.ts';
import type { Theme, ThemeTone } from './theme.ts';

/** A piece of text with one meaning. */
export interface Run {
  readonly text: string;
  readonly tone: ThemeTone;
  /** What a click on it does. */
  readonly click?: Click;
  /** It is on the row that the keys are on. */
  readonly selected?: boolean;
}

/** One row of the screen, left to right. */
export type Runs = readonly Run[];

export const run = (text: string, tone: ThemeTone = 'plain'): Run => ({ text, tone });

export const runsWidth = (line: Runs): number => line.reduce((sum, { text }) => sum + cells(text), 0);

export type Align = 'left' | 'right';

/** The text in exactly `width` cells: cut with a mark, or filled with spaces. */
export const toWidth = (text: string, width: number, align: Align = 'left', mark = '…'): string => {
  if (width <= 0) return '';
  const short = cut(text, width, mark);
  const fill = ' '.repeat(Math.max(0, width - cells(short)));
  return align === 'left' ? short + fill : fill + short;
};

/** The line in exactly `width` cells. */
export const runsToWidth = (line: Runs, width: number, mark = '…'): Runs => {
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
  if (room > 0) out.push(run(' '.repeat(room)));
  return out;
};

/** Left part, blank, right part; the right part gives way when both do not fit. */
export const spread = (left: Runs, right: Runs, width: number): Runs => {
  const gap = width - runsWidth(left) - runsWidth(right);
  if (gap < 1) return runsToWidth(left, width);
  return [...left, run(' '.repeat(gap)), ...right];
};

/** The line on the ground of the selected row: its colours stay. */
export const onSelected = (line: Runs): Runs => line.map(piece => ({ ...piece, selected: true }));

/** An inverse ground under a mixture of colours is unreadable: there every run looks alike. */
const styleOf = ({ tone, selected }: Run, theme: Theme): string => {
  if (selected !== true) return theme[tone];
  const ground = theme.selected;
  return theme[tone] === '' || !ground.includes('48;') ? ground : `${theme[tone]};${ground}`;
};

/** The runs as text with SGR sequences. Trailing plain blanks are left out: the painter erases the row first. */
export const paint = (line: Runs, theme: Theme): string => {
  let out = '';
  let same = '';
  let style = '';
  for (const piece of line) {
    if (piece.text === '') continue;
    const next = styleOf(piece, theme);
    if (next !== style) {
      out += inStyle(same, style);
      same = '';
      style = next;
    }
    same += piece.text;
  }
  return style === '' ? (out + same).trimEnd() : out + inStyle(same, style);
};

const sameClick = (a: Click | undefined, b: Click | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    ('go' in a && 'go' in b ? a.go === b.go : JSON.stringify(a) === JSON.stringify(b)));

/** Whether both look and click alike. */
export const sameRuns = (a: Runs, b: Runs): boolean =>
  a === b ||
  (a.length === b.length &&
    a.every((one, i) => {
      const other = b[i]!;
      return (
        one.text === other.text &&
        one.tone === other.tone &&
        one.selected === other.selected &&
        sameClick(one.click, other.click)
      );
    }));

/** The runs as words, without what is drawn: neither a rule nor a cursor is a word. */
export const wordsOf = (runs: Runs): string =>
  runs
    .filter(({ tone }) => tone !== 'rule' && tone !== 'cursor')
    .map(({ text }) => text)
    .join('')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** What a click on a piece of text does: types a key of the table, opens a panel, picks an entry of a list, or goes there. */
export type Click =
  | { readonly key: string }
  | { readonly panel: PanelId }
  | { readonly entry: number }
  | { readonly go: (store: Store) => void };

/** The same piece of text, to be clicked on. */
export const clickable = (run: Run, click: Click): Run => ({ ...run, click });

/** What a click on this column of the line does; null: nothing. */
export const clickAt = (line: Runs, column: number): Click | null => {
  let left = 0;
  for (const { text, click } of line) {
    const right = left + cells(text);
    if (column >= left && column < right) return click ?? null;
    left = right;
  }
  return null;
};

/** The entry of a list that the line belongs to, wherever on it the click goes. */
export const entryOf = (line: Runs): number | null => {
  for (const { click } of line) if (click && 'entry' in click) return click.entry;
  return null;
};
