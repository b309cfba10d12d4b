import type { Snapshot } from '../../model/snapshot.ts';
import {
  applyDifference,
  changeInPlace,
  type Difference,
  differenceOf,
  type Json,
  Misfit,
} from './difference.ts';
import { pictureOf } from './picture.ts';

/** Lines of another format are passed over as wrong ones are. */
const FORMAT = 1;

/**
 * One line of a segment. `n` counts from the last full picture: a difference is of the line right before it, so that
 * after a torn line nothing counts until the next full picture.
 */
type Line =
  | {
      readonly v: typeof FORMAT;
      readonly n: 0;
      readonly at: number;
      readonly clock: number;
      readonly full: Json;
    }
  | { readonly n: number; readonly at: number; readonly clock: number; readonly d: Difference | null };

/** One recorded moment; parts that did not change since the one before are the same objects. */
export interface Frame {
  readonly at: number;
  readonly clock: number;
  readonly picture: Json;
}

/** Turns snapshots into lines: a full picture first, then what changed. */
export class LineWriter {
  #picture: Json | null = null;
  #n = 0;

  /** The next line is a full picture: a new segment begins, or a line may not have been written whole. */
  startAnew(): void {
    this.#picture = null;
  }

  next(snapshot: Snapshot): string {
    const picture = pictureOf(snapshot) as unknown as Json;
    const when = { at: snapshot.takenAt, clock: snapshot.clock };
    const line: Line =
      this.#picture === null
        ? { v: FORMAT, n: 0, ...when, full: picture }
        : { n: this.#n + 1, ...when, d: differenceOf(this.#picture, picture) };
    this.#picture = picture;
    this.#n = line.n;
    return `${JSON.stringify(line)}\n`;
  }
}

export interface Decoded {
  readonly frames: readonly Frame[];
  /** Lines that were torn, wrong, or differences of such. */
  readonly skipped: number;
}

type Apply = (before: Json, difference: unknown) => Json;

/** Everything that can be read of a segment's text, in the order of its lines. A last line without its end is torn. */
export const decodeLines = (text: string): Decoded => {
  const frames: Frame[] = [];
  const skipped = eachLine(text, applyDifference, ({ at, clock, picture }) =>
    frames.push({ at, clock, picture }),
  );
  return { frames, skipped };
};

/** Shows every moment in turn, and says how many lines it had to skip. The next one is made of the objects of the last. */
export const passLines = (text: string, show: (frame: Frame) => void): number =>
  eachLine(text, changeInPlace, show);

const eachLine = (text: string, apply: Apply, show: (frame: Frame) => void): number => {
  let skipped = 0;
  let last: ReadLine | null = null;
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    const line = text.slice(from, end === -1 ? text.length : end);
    from = end === -1 ? text.length : end + 1;
    if (line === '') continue;
    last = readLine(line, last, apply);
    if (last === null) skipped += 1;
    else show(last);
  }
  return skipped;
};

interface ReadLine extends Frame {
  readonly n: number;
}

const readLine = (line: string, last: ReadLine | null, apply: Apply): ReadLine | null => {
  try {
    const { v, n, at, clock, full, d } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (!isCount(n) || !isTime(at) || typeof clock !== 'number' || !Number.isFinite(clock)) return null;
    if (n === 0) return v === FORMAT && full !== undefined ? { n, at, clock, picture: full as Json } : null;
    if (last === null || n !== last.n + 1) return null;
    return { n, at, clock, picture: d === null ? last.picture : apply(last.picture, d) };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof Misfit || error instanceof TypeError) return null;
    throw error;
  }
};

const isCount = (value: unknown): value is number => Number.isInteger(value) && (value as number) >= 0;

/** What a Date can hold. */
const isTime = (value: unknown): value is number => typeof value === 'number' && Math.abs(value) <= 8.64e15;
