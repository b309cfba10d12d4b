import { closeSync, constants, fstatSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, constants as zlib } from 'node:zlib';
import type { Mark } from '../../model/report.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { type Asked, momentAsked } from '../../model/time.ts';
import { formatMoment, plural } from '../../model/units.ts';
import { openOwn } from '../../observe/state/own-file.ts';
import { decodeLines, type Frame, passLines } from './lines.ts';
import {
  beginOf,
  endOf,
  type Hour,
  isIn,
  RECORDER_DIRECTORY,
  type SegmentFile,
  segmentFiles,
} from './segments.ts';
import { snapshotOf } from './stored-snapshot.ts';
import { readMarks } from './timeline-marks.ts';

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

  /** When its oldest hour begins, by the names alone: no hour is read for it. Null: there is none. */
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
    const state = own.map(segmentState).join(' ');
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

/** No honest hour is longer, packed or not: a file of zeros must not fill our memory. */
const MOST_PACKED_BYTES = 64 * 1024 ** 2;
const MOST_PLAIN_BYTES = 256 * 1024 ** 2;

/** Throws when it is gone meanwhile, not ours, or no gzip. */
export const readSegment = ({ path, packed }: SegmentFile): string => {
  const bytes = readBounded(path);
  if (!packed) return bytes.toString('utf8');
  // What was cut off is read up to the cut.
  return gunzipSync(bytes, {
    finishFlush: zlib.Z_SYNC_FLUSH,
    maxOutputLength: MOST_PLAIN_BYTES,
  }).toString('utf8');
};

/** Changes whenever the file does: the hour being written grows. */
export const segmentState = ({ path }: SegmentFile): string => {
  try {
    const fd = openOwn(path, constants.O_RDONLY);
    try {
      const { size, mtimeMs, ino } = fstatSync(fd);
      return `${ino}:${size}:${mtimeMs}`;
    } finally {
      closeSync(fd);
    }
  } catch {
    return 'unreadable';
  }
};

const readBounded = (path: string): Buffer => {
  const fd = openOwn(path, constants.O_RDONLY);
  try {
    const size = Math.min(fstatSync(fd).size, MOST_PACKED_BYTES);
    const bytes = Buffer.alloc(size);
    let got = 0;
    for (let read = -1; got < size && read !== 0; got += read)
      read = readSync(fd, bytes, got, size - got, got);
    return bytes.subarray(0, got);
  } finally {
    closeSync(fd);
  }
};

/** A picture every ten seconds, and one may come late: further off than this it is another moment. */
export const GAP_MS = 30_000;

export type OpenedMoment =
  | { readonly ok: true; readonly snapshot: Snapshot; readonly note: string | null }
  | { readonly ok: false; readonly message: string };

const NOTHING =
  'Nothing was recorded yet: reaptop guard keeps the flight recorder (reaptop guard install starts it at every login).';

/** The picture of a moment, or the nearest one with a sentence that says so. */
export const openMoment = (
  recording: Recording,
  asked: Asked,
  { bootedAt }: { readonly bootedAt: number },
): OpenedMoment => {
  const at = momentAsked(asked, recording.marks(), bootedAt);
  if (at === null) return { ok: false, message: 'No OOM kill was recorded.' };
  const frame = recording.nearest(at);
  if (frame === null) return { ok: false, message: NOTHING };
  const snapshot = snapshotOf(frame);
  if (snapshot === null)
    return { ok: false, message: `What was recorded at ${formatMoment(frame.at)} cannot be read.` };
  const note = noteFor(recording, at, frame);
  const said = [...(note === null ? [] : [note]), ...recording.warnings()];
  return { ok: true, snapshot: { ...snapshot, warnings: [...said, ...snapshot.warnings] }, note };
};

const noteFor = (recording: Recording, at: number, frame: Frame): string | null => {
  if (Math.abs(frame.at - at) <= GAP_MS) return null;
  const shown = `this is the nearest snapshot, of ${formatMoment(frame.at)}`;
  if (recording.before(at) === null) return `The recording begins after ${formatMoment(at)}: ${shown}.`;
  if (recording.after(at) === null) return `The recording ends before ${formatMoment(at)}: ${shown}.`;
  return `Nothing was recorded at ${formatMoment(at)} (guard was off, or the machine asleep): ${shown}.`;
};
