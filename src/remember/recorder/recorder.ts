import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Mark } from '../../model/mark.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { appendLines } from '../../observe/state/append.ts';
import { errorSentence } from '../../observe/state/own-file.ts';
import { makeStateDirectory } from '../../observe/state/state-directory.ts';
import { LineWriter } from './lines.ts';
import { trimMarks } from './marks-file.ts';
import { DRAFT, packSegment } from './pack.ts';
import {
  beginOf,
  type Hour,
  hourOf,
  MARKS_FILE,
  plainName,
  RECORDER_DIRECTORY,
  segmentFiles,
} from './segments.ts';

const DAY_MS = 86_400_000;

export interface RecorderOptions {
  /** The state directory. */
  readonly directory: string;
  readonly keepMs?: number;
  readonly keepBytes?: number;
  /** A plain segment is compressed early when it is this long: a machine full of agents has long hours. */
  readonly plainBytes?: number;
  /** Milliseconds, monotonic. */
  readonly monotonic?: () => number;
}

/** The clock must have run evenly this long before what looks old is deleted: it may be the clock that is wrong. */
const STEADY_MS = 10 * 60_000;
const JUMP_MS = 5000;

/** Writes the flight recorder; one writer at a time, which guard's lock sees to. Never throws: a warning comes back. */
export class Recorder {
  readonly #options: Required<RecorderOptions>;
  readonly #directory: string;
  readonly #lines = new LineWriter();
  #hour: Hour | null = null;
  #size = -1;
  #clock: { readonly wall: number; readonly monotonic: number } | null = null;
  #steadySince: number;
  #trimmedAt = Number.NEGATIVE_INFINITY;

  constructor(options: RecorderOptions) {
    this.#options = {
      keepMs: 7 * DAY_MS,
      keepBytes: 64 * 1024 ** 2,
      plainBytes: 8 * 1024 ** 2,
      monotonic: () => performance.now(),
      ...options,
    };
    this.#directory = join(options.directory, RECORDER_DIRECTORY);
    this.#steadySince = this.#options.monotonic();
  }

  async record(snapshot: Snapshot, marks: readonly Mark[] = []): Promise<string | null> {
    try {
      this.#makeDirectory();
      this.#noteClock(snapshot.takenAt);
      const hour = hourOf(snapshot.takenAt);
      if (hour !== this.#hour) await this.#turnTo(hour);
      this.#append(hour, snapshot);
      if (marks.length > 0)
        appendLines(join(this.#directory, MARKS_FILE), () =>
          marks.map(mark => `${JSON.stringify(mark)}\n`).join(''),
        );
      if (this.#size >= this.#options.plainBytes) await this.#pack(hour);
      this.#trim(snapshot.takenAt, hour);
      return null;
    } catch (error) {
      this.#lines.startAnew();
      this.#size = -1;
      return `the flight recorder ${this.#directory} could not be written: ${errorSentence(error)}`;
    }
  }

  #makeDirectory(): void {
    makeStateDirectory(this.#options.directory);
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    makeStateDirectory(this.#directory);
  }

  /** Hours that an earlier writer left plain are compressed with it. */
  async #turnTo(hour: Hour): Promise<void> {
    rmSync(join(this.#directory, DRAFT), { force: true });
    for (const segment of segmentFiles(this.#directory))
      if (!segment.packed && segment.hour !== hour) await packSegment(this.#directory, segment.hour);
    this.#hour = hour;
    this.#size = -1;
  }

  async #pack(hour: Hour): Promise<void> {
    await packSegment(this.#directory, hour);
    this.#size = -1;
  }

  /** A file that is not as we left it (gone, cut short, written by somebody else) begins with a full picture again. */
  #append(hour: Hour, snapshot: Snapshot): void {
    const { sizeAfter } = appendLines(join(this.#directory, plainName(hour)), sizeBefore => {
      if (sizeBefore !== this.#size) this.#lines.startAnew();
      return this.#lines.next(snapshot);
    });
    this.#size = sizeAfter;
  }

  #noteClock(wall: number): void {
    const monotonic = this.#options.monotonic();
    const before = this.#clock;
    this.#clock = { wall, monotonic };
    if (before !== null && Math.abs(wall - before.wall - (monotonic - before.monotonic)) > JUMP_MS)
      this.#steadySince = monotonic;
  }

  /** Oldest first out; the hour being written stays. */
  #trim(now: number, current: Hour): void {
    const monotonic = this.#options.monotonic();
    if (monotonic - this.#trimmedAt < STEADY_MS) return;
    const steady = monotonic - this.#steadySince >= STEADY_MS;
    this.#trimmedAt = monotonic;
    const files = segmentFiles(this.#directory).map(file => ({
      ...file,
      bytes: lstatSync(file.path, { throwIfNoEntry: false })?.size ?? 0,
    }));
    let total = files.reduce((sum, file) => sum + file.bytes, 0);
    for (const { hour, path, packed, bytes } of files) {
      const old = steady && now - beginOf(hour) > this.#options.keepMs;
      if (!old && total <= this.#options.keepBytes) continue;
      if (hour === current && !packed) continue;
      rmSync(path, { force: true });
      total -= bytes;
    }
    trimMarks(this.#directory, steady ? now - this.#options.keepMs : null);
  }
}
