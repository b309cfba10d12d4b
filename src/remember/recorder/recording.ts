import { join } from 'node:path';
import { plural } from '../../model/format.ts';
import type { Mark } from '../../model/mark.ts';
import { decodeLines, type Frame, passLines } from './lines.ts';
import { readMarks } from './marks-file.ts';
import { readSegment, stateOf } from './segment-text.ts';
import {
  beginOf,
  endOf,
  type Hour,
  isIn,
  RECORDER_DIRECTORY,
  type SegmentFile,
  segmentFiles,
} from './segments.ts';

/** Stepping to and fro over the turn of an hour reads neither hour twice. */
const HOURS_KEPT = 3;

interface ReadHour {
  readonly frames: readonly Frame[];
  readonly skipped: number;
  /** Sizes and times of its files: the hour being written grows. */
  readonly state: string;
}

/** The flight recorder as it can be read: never waits for the writer, never trusts it. */
export class Recording {
  readonly #directory: string;
  readonly #hours = new Map<Hour, ReadHour>();
  readonly #skipped = new Map<Hour, number>();
  readonly #unreadable = new Set<string>();

  constructor(stateDirectory: string) {
    this.#directory = join(stateDirectory, RECORDER_DIRECTORY);
  }

  /** The recorded moment closest to this one; null when nothing was recorded at all. */
  nearest(at: number): Frame | null {
    const before = this.before(at + 1);
    const after = this.after(at);
    if (before === null || after === null) return before ?? after;
    return at - before.at <= after.at - at ? before : after;
  }

  /** The last moment earlier than this one. */
  before(at: number): Frame | null {
    const files = this.#files();
    for (const hour of hoursOf(files).reverse()) {
      if (beginOf(hour) > at) continue;
      const found = this.#read(hour, files).frames.findLast(frame => frame.at < at);
      if (found !== undefined) return found;
    }
    return null;
  }

  /** The first moment later than this one. */
  after(at: number): Frame | null {
    const files = this.#files();
    for (const hour of hoursOf(files)) {
      if (endOf(hour) <= at) continue;
      const found = this.#read(hour, files).frames.find(frame => frame.at > at);
      if (found !== undefined) return found;
    }
    return null;
  }

  /** Every moment from one to another, oldest first; hour by hour, so that a week need not be held at once. */
  *between(from: number, to: number): Generator<Frame> {
    const files = this.#files();
    for (const hour of hoursOf(files)) {
      if (endOf(hour) <= from || beginOf(hour) > to) continue;
      for (const frame of this.#read(hour, files).frames) if (frame.at >= from && frame.at <= to) yield frame;
    }
  }

  /**
   * What `look` makes of every moment from one to another, oldest first. The picture it is shown changes under it from
   * moment to moment: it takes out what it wants and keeps nothing else. Null: this moment is passed over.
   */
  *through<T extends { readonly at: number }>(
    from: number,
    to: number,
    look: (frame: Frame) => T | null,
  ): Generator<T> {
    const files = this.#files();
    for (const hour of hoursOf(files)) {
      if (endOf(hour) <= from || beginOf(hour) > to) continue;
      const found = new Map<number, T>();
      const [first, end] = [Math.max(from, beginOf(hour)), endOf(hour)];
      let skipped = 0;
      for (const file of files.filter(each => each.hour === hour))
        skipped += passLines(this.#textOf(file), frame => {
          if (frame.at < first || frame.at >= end || frame.at > to) return;
          const made = look(frame);
          if (made !== null) found.set(frame.at, made);
        });
      if (skipped > 0) this.#skipped.set(hour, skipped);
      yield* [...found.values()].sort((a, b) => a.at - b.at);
    }
  }

  /** When its oldest hour begins, told by the names alone: no hour is read for it. Null: there is none. */
  begin(): number | null {
    const [first] = this.#files();
    return first === undefined ? null : beginOf(first.hour);
  }

  /** What was worth marking, oldest first. */
  marks(): readonly Mark[] {
    return readMarks(this.#directory).marks;
  }

  /** What was passed over so far, in one sentence each. */
  warnings(): readonly string[] {
    const lines = [...this.#skipped.values()].reduce((sum, count) => sum + count, 0);
    return [
      ...(lines === 0 ? [] : [`${plural(lines, 'line')} of the recording could not be read: torn or wrong.`]),
      ...(this.#unreadable.size === 0
        ? []
        : [`${plural(this.#unreadable.size, 'segment')} of the recording could not be read.`]),
    ];
  }

  #files(): readonly SegmentFile[] {
    return segmentFiles(this.#directory);
  }

  #read(hour: Hour, files: readonly SegmentFile[]): ReadHour {
    const own = files.filter(file => file.hour === hour);
    const known = this.#hours.get(hour);
    const state = own.map(stateOf).join(' ');
    if (known?.state === state) return known;
    let skipped = 0;
    const frames = new Map<number, Frame>();
    for (const file of own) {
      const text = this.#textOf(file);
      const decoded = decodeLines(text);
      skipped += decoded.skipped;
      for (const frame of decoded.frames) if (isIn(hour, frame.at)) frames.set(frame.at, frame);
    }
    const read = { frames: [...frames.values()].sort((a, b) => a.at - b.at), skipped, state };
    this.#hours.delete(hour);
    this.#hours.set(hour, read);
    if (skipped > 0) this.#skipped.set(hour, skipped);
    for (const oldest of this.#hours.keys()) {
      if (this.#hours.size <= HOURS_KEPT) break;
      this.#hours.delete(oldest);
    }
    return read;
  }

  #textOf(file: SegmentFile): string {
    try {
      return readSegment(file);
    } catch {
      this.#unreadable.add(file.path);
      return ''; // said once, in a warning
    }
  }
}

const hoursOf = (files: readonly SegmentFile[]): Hour[] => [...new Set(files.map(file => file.hour))];
