import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs';
import { CallTracker, callLogOf, SKIP_BYTES } from '../../agents/call-logs.ts';
import type { LoggedCalls } from '../../model/call.ts';
import { asObject } from '../../model/json.ts';
import { fill } from './read-bounded.ts';

/** A first read goes back from the end in these steps, until it has seen where what the model said last begins. */
const BACK_BYTES = [8 * 1024, 64 * 1024, 512 * 1024, 4 * 1024 ** 2] as const;

/** A longer line is passed over: no call is as long, and a result that is ends what was pending. */
const MOST_LINE = 1024 ** 2;

/** Further behind than this, the end is read anew instead. */
const MOST_BEHIND = 4 * 1024 ** 2;

/** For all files of one sample together; the others wait for the next one. */
const MOST_PER_SAMPLE = 20 * 1024 ** 2;

/** More logs than anybody has sessions; the longest unread falls out. */
const MOST_FILES = 512;

/** What tells one state of a file from another without opening it. */
export type Stamp = Pick<Stats, 'dev' | 'ino' | 'size' | 'mtimeMs'>;

interface Followed {
  stamp: Stamp;
  /** Where the first line begins that was not taken yet. */
  offset: number;
  /** Amid a line that is too long. */
  skipping: boolean;
  tracker: CallTracker;
  /** null: it could not be read, or there is more that was not read yet. */
  told: LoggedCalls | null;
}

const NEWLINE = 10;

const isSame = (a: Stamp, b: Stamp): boolean =>
  a.dev === b.dev && a.ino === b.ino && a.size === b.size && a.mtimeMs === b.mtimeMs;

/**
 * What is pending in the logs of sessions. Each is read once from its end, then forward from where the last read ended.
 * Nothing of a line is kept but names, ids, times and counts. Only regular files of our own user are opened, and never
 * through a link.
 */
export class CallReader {
  readonly #files = new Map<string, Followed>();
  #left = MOST_PER_SAMPLE;
  /** Bytes read so far: tests count work, not time. */
  bytesRead = 0;

  /** A new sample begins. */
  begin(): void {
    this.#left = MOST_PER_SAMPLE;
  }

  /** null: not known. `stamp`: the file as it was just seen. */
  read(path: string, agent: string, stamp: Stamp, subagent = false): LoggedCalls | null {
    const known = this.#files.get(path);
    if (known !== undefined && isSame(known.stamp, stamp)) return known.told;
    if (this.#left <= 0) return null;
    const log = callLogOf(agent);
    if (log === null) return null;
    const fresh = (): Followed => ({
      stamp,
      offset: 0,
      skipping: false,
      tracker: new CallTracker(log, subagent),
      told: null,
    });
    const followed = this.#open(path, known, stamp, fresh, log.skip);
    this.#files.delete(path);
    this.#files.set(path, followed);
    if (this.#files.size > MOST_FILES) this.#files.delete(this.#files.keys().next().value!);
    return followed.told;
  }

  #open(
    path: string,
    known: Followed | undefined,
    stamp: Stamp,
    fresh: () => Followed,
    skip: RegExp,
  ): Followed {
    let fd: number;
    try {
      const { O_RDONLY, O_NONBLOCK, O_NOCTTY, O_NOFOLLOW } = constants;
      fd = openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    } catch {
      return fresh(); // unreadable, or a link: asked again when it changes
    }
    try {
      const now = fstatSync(fd);
      if (!now.isFile() || (process.getuid !== undefined && now.uid !== process.getuid())) return fresh();
      const goesOn =
        known?.told != null &&
        known.stamp.dev === now.dev &&
        known.stamp.ino === now.ino &&
        now.size > known.stamp.size &&
        now.size - known.offset <= MOST_BEHIND;
      const { dev, ino, size, mtimeMs } = now;
      const followed = goesOn ? known : fresh();
      if (goesOn) this.#forward(fd, followed, size, skip);
      else this.#back(fd, followed, size, skip, fresh);
      // As it was seen before it was opened, if it has grown since: then the next sample reads on.
      followed.stamp = stamp.size <= size && stamp.ino === ino ? stamp : { dev, ino, size, mtimeMs };
      followed.told = followed.tracker.told();
      return followed;
    } catch {
      return fresh();
    } finally {
      closeSync(fd);
    }
  }

  #forward(fd: number, followed: Followed, size: number, skip: RegExp): void {
    const buffer = this.#take(fd, followed.offset, size - followed.offset);
    this.#lines(buffer, followed, skip);
  }

  /** From the end: ever more of it, until what the model said last is in it from its beginning. */
  #back(fd: number, followed: Followed, size: number, skip: RegExp, fresh: () => Followed): void {
    let tail = Buffer.alloc(0);
    for (const bytes of BACK_BYTES) {
      const from = Math.max(0, size - bytes);
      tail = Buffer.concat([this.#take(fd, from, size - tail.length - from), tail]);
      followed.tracker = fresh().tracker;
      followed.offset = from;
      // It begins somewhere in a line, unless it begins at the beginning.
      followed.skipping = from > 0;
      this.#lines(tail, followed, skip);
      if (followed.tracker.certain || from === 0) return;
    }
  }

  #take(fd: number, position: number, length: number): Buffer {
    const buffer = Buffer.allocUnsafe(Math.max(0, length));
    const got = fill(fd, buffer, position);
    this.bytesRead += got;
    this.#left -= got;
    return buffer.subarray(0, got);
  }

  /** Takes the whole lines of what was read at `offset`, and moves on to the first that is not whole. */
  #lines(buffer: Buffer, followed: Followed, skip: RegExp): void {
    let from = 0;
    for (let end = buffer.indexOf(NEWLINE); end !== -1; end = buffer.indexOf(NEWLINE, from)) {
      if (followed.skipping) followed.skipping = false;
      else if (end - from > MOST_LINE) followed.tracker.lost();
      else takeLine(buffer, from, end, followed.tracker, skip);
      from = end + 1;
    }
    const rest = buffer.length - from;
    if (followed.skipping || rest > MOST_LINE) {
      if (!followed.skipping) followed.tracker.lost();
      followed.skipping = true;
      from = buffer.length;
    }
    followed.offset += from;
  }
}

const takeLine = (buffer: Buffer, from: number, end: number, tracker: CallTracker, skip: RegExp): void => {
  if (end - from < 2 || skip.test(buffer.toString('latin1', from, Math.min(end, from + SKIP_BYTES)))) return;
  try {
    const line = asObject(JSON.parse(buffer.toString('utf8', from, end)));
    if (line !== null) tracker.take(line);
  } catch {
    // half written, torn, or not JSON at all
  }
};
