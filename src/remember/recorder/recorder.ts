import {
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Mark } from '../../model/report.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { appendLines } from '../../observe/state/lines-file.ts';
import { errorSentence, openOwn } from '../../observe/state/own-file.ts';
import { makeStateDirectory } from '../../observe/state/state-directory.ts';
import { LineWriter } from './lines.ts';
import { dropOldSegments } from './retention.ts';
import {
  type Hour,
  hourOf,
  MARKS_FILE,
  packedName,
  plainName,
  RECORDER_DIRECTORY,
  segmentFiles,
} from './segments.ts';
import { trimMarks } from './timeline-marks.ts';

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

  /** A file that is not as we left it (gone, cut short, written by another) begins with a full snapshot again. */
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

  #trim(now: number, current: Hour): void {
    const monotonic = this.#options.monotonic();
    if (monotonic - this.#trimmedAt < STEADY_MS) return;
    const steady = monotonic - this.#steadySince >= STEADY_MS;
    this.#trimmedAt = monotonic;
    const { keepMs, keepBytes } = this.#options;
    dropOldSegments(this.#directory, { now, current, keepMs: steady ? keepMs : null, keepBytes });
    trimMarks(this.#directory, steady ? now - this.#options.keepMs : null);
  }
}

/** Made beside, then put in its place; what a kill leaves under this name is removed by the next writer. */
const DRAFT = '.packing';

/**
 * Compresses a plain segment. What is already compressed of that hour stays in front: members of a gzip file follow one
 * another. Killed at any moment it leaves the hour readable, at worst twice, and readers pass over what they have seen.
 */
const packSegment = async (directory: string, hour: Hour): Promise<void> => {
  const plain = join(directory, plainName(hour));
  const packed = join(directory, packedName(hour));
  const draft = join(directory, DRAFT);
  rmSync(draft, { force: true });
  try {
    await append(packed, draft, false);
    await append(plain, draft, true);
    sync(draft);
    renameSync(draft, packed);
    sync(dirname(packed));
    rmSync(plain, { force: true });
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
};

/** By streams: an hour of a machine full of agents is some megabytes, and guard is to stay small. */
const append = async (from: string, to: string, compress: boolean): Promise<void> => {
  let fd: number;
  try {
    fd = openOwn(from, constants.O_RDONLY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const source = createReadStream(from, { fd });
  const target = createWriteStream(to, { flags: 'a', mode: 0o600 });
  await (compress ? pipeline(source, createGzip(), target) : pipeline(source, target));
};

const sync = (path: string): void => {
  const fd = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};
