import sliceAnsi from 'slice-ansi';
import stringWidth from 'string-width';
import { BoundedCache } from './bounded-cache.ts';
import { segmentOf } from './segment.ts';
import { composeCells, type Written } from './styled-cells.ts';

/**
 * A drop-in for Ink's `Output` (build/output.js of Ink 6.8). The published one makes an object for every cell of the
 * screen in every frame, takes every text apart into characters, and joins them again: nine tenths of what a frame
 * costs, and the reason why a key took 27 to 69 ms. Here a row is a list of segments. Where they do not overlap, and
 * hold nothing but text and SGR, the row is those segments side by side; else it is made of cells, as published.
 * What is remembered between frames has a bound.
 *
 * The same calls give the same screen: test/build/ink compares both on random layouts.
 */
export type OutputTransformer = (text: string, index: number) => string;

export interface Clip {
  readonly x1: number | undefined;
  readonly x2: number | undefined;
  readonly y1: number | undefined;
  readonly y2: number | undefined;
}

interface Write {
  readonly x: number;
  readonly y: number;
  readonly text: string;
  readonly transformers: readonly OutputTransformer[];
}

type Operation =
  | ({ readonly type: 'write' } & Write)
  | { readonly type: 'clip'; readonly clip: Clip }
  | { readonly type: 'unclip' };

const WIDTHS = 1000;
const widths = new BoundedCache<number>(WIDTHS);
const widthOf = (line: string): number => widths.get(line, stringWidth);

interface Placed {
  readonly x: number;
  readonly y: number;
  readonly lines: readonly string[];
}

/** What of a text is inside the clip, and where that begins; null when it is nowhere near. */
const clipped = ({ x, y, lines }: Placed, { x1, x2, y1, y2 }: Clip): Placed | null => {
  let inside: Placed = { x, y, lines };
  if (x1 !== undefined && x2 !== undefined) {
    const width = Math.max(0, ...lines.map(widthOf));
    if (x + width < x1 || x > x2) return null;
  }
  if (y1 !== undefined && y2 !== undefined && (y + lines.length < y1 || y > y2)) return null;
  if (x1 !== undefined && x2 !== undefined) {
    const from = Math.max(0, x1 - x);
    const cut = (line: string): string => {
      const width = widthOf(line);
      return sliceAnsi(line, from, x + width > x2 ? x2 - x : width);
    };
    inside = { ...inside, x: Math.max(x, x1), lines: lines.map(cut) };
  }
  if (y1 !== undefined && y2 !== undefined) {
    const from = Math.max(0, y1 - y);
    const to = y + lines.length > y2 ? y2 - y : lines.length;
    inside = { ...inside, y: Math.max(y, y1), lines: inside.lines.slice(from, to) };
  }
  return inside;
};

/** The segments of a row side by side; null when they overlap, reach over an edge, or are no segments. */
const composeSegments = (written: readonly Written[], width: number): string | null => {
  const inOrder = written.length > 1 ? [...written].sort((a, b) => a.x - b.x) : written;
  let row = '';
  let end = 0;
  for (const { x, text } of inOrder) {
    const segment = segmentOf(text);
    if (segment === null || x < end || x + segment.width > width) return null;
    row += ' '.repeat(x - end) + segment.text;
    end = x + segment.width;
  }
  return row.trimEnd();
};

export default class Output {
  readonly width: number;
  readonly height: number;
  readonly #operations: Operation[] = [];

  constructor({ width, height }: { readonly width: number; readonly height: number }) {
    this.width = width;
    this.height = height;
  }

  write(
    x: number,
    y: number,
    text: string,
    { transformers }: { readonly transformers: readonly OutputTransformer[] },
  ): void {
    if (text) this.#operations.push({ type: 'write', x, y, text, transformers });
  }

  clip(clip: Clip): void {
    this.#operations.push({ type: 'clip', clip });
  }

  unclip(): void {
    this.#operations.push({ type: 'unclip' });
  }

  get(): { output: string; height: number } {
    const rows: Written[][] = Array.from({ length: this.height }, () => []);
    const clips: Clip[] = [];
    for (const operation of this.#operations) {
      if (operation.type === 'clip') clips.push(operation.clip);
      else if (operation.type === 'unclip') clips.pop();
      else this.#place(operation, clips.at(-1), rows);
    }
    const output = rows
      .map(row => composeSegments(row, this.width) ?? composeCells(row, this.width))
      .join('\n');
    return { output, height: rows.length };
  }

  #place({ x, y, text, transformers }: Write, clip: Clip | undefined, rows: Written[][]): void {
    const whole: Placed = { x, y, lines: text.split('\n') };
    const inside = clip === undefined ? whole : clipped(whole, clip);
    if (inside === null) return;
    for (const [index, line] of inside.lines.entries()) {
      // As published: a text that begins above the screen is not shown at all, one that is too long ends with it.
      const row = rows[inside.y + index];
      if (row === undefined) return;
      const shown = transformers.reduce((changed, transform) => transform(changed, index), line);
      if (shown !== '') row.push({ x: inside.x, text: shown });
    }
  }
}
