import { BoundedCache } from './bounded-cache.ts';
import { styledCells } from './styled-cells.ts';

/** A piece of a row that can be put beside others as it is. */
export interface Segment {
  /** Cells it takes. */
  readonly width: number;
  /** The text, with every style closed at its end. */
  readonly text: string;
}

const ESCAPE = 0x1b;
const BRACKET = 0x5b;
const SEMICOLON = 0x3b;
const SMALL_M = 0x6d;
const RESET = '\u001b[0m';

/** Which bit stands for the styles that one closing code ends; unknown codes are left to `ansi-tokenize`. */
const FAMILIES: readonly (readonly [closes: number, ...opens: number[]])[] = [
  [22, 1, 2],
  [23, 3],
  [24, 4],
  [27, 7],
  [28, 8],
  [29, 9],
  [39, 30, 31, 32, 33, 34, 35, 36, 37, 38, 90, 91, 92, 93, 94, 95, 96, 97],
  [49, 40, 41, 42, 43, 44, 45, 46, 47, 48, 100, 101, 102, 103, 104, 105, 106, 107],
  [55, 53],
];
const OPENS = new Map(FAMILIES.flatMap(([, ...opens], bit) => opens.map(code => [code, 1 << bit] as const)));
const CLOSES = new Map(FAMILIES.map(([closes], bit) => [closes, 1 << bit] as const));

/** `38;5;n` and `38;2;r;g;b` are one code: how many numbers follow, or null when it is neither. */
const colourNumbers = (kind: number | undefined): number | null => (kind === 5 ? 2 : kind === 2 ? 4 : null);

/** The styles open after these numbers; null when one of them is not known here. */
const after = (open: number, codes: readonly number[]): number | null => {
  let now = open;
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i]!;
    const opens = OPENS.get(code);
    const closes = CLOSES.get(code);
    if (code === 0) now = 0;
    else if (opens !== undefined) now |= opens;
    else if (closes !== undefined) now &= ~closes;
    else return null;
    if (code === 38 || code === 48) {
      const numbers = colourNumbers(codes[i + 1]);
      if (numbers === null || i + numbers >= codes.length) return null;
      i += numbers;
    }
  }
  return now;
};

/** Characters beyond ASCII that are one cell and one UTF-16 unit in every font: Latin, punctuation, arrows, boxes, blocks, braille. */
const isNarrow = (unit: number): boolean =>
  (unit >= 0x2500 && unit <= 0x25fc) ||
  (unit >= 0x2010 && unit <= 0x2027) ||
  (unit >= 0x2190 && unit <= 0x2319) ||
  (unit >= 0xa1 && unit <= 0x2ff && unit !== 0xad) ||
  (unit >= 0x2800 && unit <= 0x28ff);

/** Reads one SGR sequence from its ESC on; its end is 0 when it is something else. */
const readSgr = (text: string, from: number): { readonly end: number; readonly codes: readonly number[] } => {
  const codes: number[] = [];
  let code = -1;
  if (text.charCodeAt(from + 1) !== BRACKET) return { end: 0, codes };
  for (let i = from + 2; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x30 && unit <= 0x39) code = Math.max(code, 0) * 10 + unit - 0x30;
    // An empty number means 0 to a terminal, and something else to `ansi-tokenize`.
    else if (code >= 0 && (unit === SEMICOLON || unit === SMALL_M)) {
      codes.push(code);
      if (unit === SMALL_M) return { end: i + 1, codes };
      code = -1;
    } else break;
  }
  return { end: 0, codes };
};

interface Scan {
  /** UTF-16 units outside of escape sequences; as many cells, when all are narrow. */
  readonly units: number;
  readonly narrow: boolean;
  /** Styles open at the end, one bit each. */
  readonly open: number;
}

const LINES = 500;
const scans = new BoundedCache<Scan | null>(LINES);

/** Null when the line holds something other than text and SGR. Most lines are what they were in the frame before. */
const scan = (text: string): Scan | null => scans.get(text, scanned);

/** One pass over the units of a line. */
const scanned = (text: string): Scan | null => {
  let units = 0;
  let open = 0;
  let narrow = true;
  for (let i = 0; i < text.length; ) {
    const unit = text.charCodeAt(i);
    if (unit === ESCAPE) {
      const { end, codes } = readSgr(text, i);
      const styles = end === 0 ? null : after(open, codes);
      if (styles === null) return null;
      open = styles;
      i = end;
      continue;
    }
    if (unit < 0x20 || (unit >= 0x7f && unit < 0xa0)) return null;
    if (unit > 0x7e && !isNarrow(unit)) narrow = false;
    units += 1;
    i += 1;
  }
  return { units, narrow, open };
};

/** Cells of a line whose characters all take one; null when that is not so. */
export const narrowWidth = (text: string): number | null => {
  const line = scan(text);
  return line?.narrow ? line.units : null;
};

/** The line as a segment, measured without taking it apart; null when only cells can tell what it means. */
export const segmentOf = (text: string): Segment | null => {
  const line = scan(text);
  if (line === null) return null;
  const { units, narrow, open } = line;
  return {
    width: narrow ? units : styledCells(text).reduce((sum, cell) => sum + cell.width, 0),
    text: open === 0 ? text : text + RESET,
  };
};
