import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type HeldDirectory, inDirectory } from '../act/held-directory.ts';
import {
  type FoundLock,
  LOCK_DIRECTORY,
  lockPath,
  lockState,
  ownerOf,
  parseFields,
  parseOwner,
  removeLock,
  replaceStale,
  tryLock,
} from '../act/record/file-lock.ts';
import type { JsonObject } from '../model/json.ts';
import { isOurs } from '../observe/files/read-bounded.ts';
import { unlinkIfThere, writeAndClose } from '../observe/state/own-file.ts';
import { makeStateDirectory } from '../observe/state/state-directory.ts';

const PROGRESS_FILE = '.agent-progress.json';

const MOST_BYTES = 64 * 1024;
/** A beat that is lost is followed by another; a count is not. */
const WAIT_MS = 500;

/** What a beat says; what it leaves out stays as it was in the file. */
export interface Beat {
  readonly session?: string | undefined;
  /** For a file that names no session yet: the seeds' own names for theirs stay. */
  readonly sessionIfNone?: string | undefined;
  readonly task?: number | string | undefined;
  readonly phase?: number | undefined;
  readonly operation?: string | undefined;
  readonly proof?: string | undefined;
  readonly status?: string | null | undefined;
  readonly calls?: number | undefined;
  readonly skipped?: number | undefined;
}

export interface BeatLimits {
  /** Our state directory, for the lock; null: there is none, and the beat is written without. */
  readonly state: string | null;
  /** The most that a count may wait for another beat. */
  readonly waitMs: number;
}

/**
 * Beats in the file that the seeds call `.agent-progress.json`, as a whole or not at all. Counters that the file has
 * are kept and added to. Throws a sentence when the directory is not ours to write in.
 */
export const writeBeat = (
  root: string,
  directory: string,
  beat: Beat,
  now: Date,
  { state, waitMs }: BeatLimits,
): void =>
  inDirectory(root, directory, held => {
    const counts = (beat.calls ?? 0) + (beat.skipped ?? 0) > 0;
    const write = (): void => {
      const before = held.stat(PROGRESS_FILE);
      if (before !== null && !(before.isFile() && isOurs(before)))
        throw new Error('it is not a regular file of ours');
      const fields = before === null ? {} : readObject(held);
      replaceHeld(held, PROGRESS_FILE, `${JSON.stringify(beaten(fields, beat, now), null, 2)}\n`);
    };
    const lock = lockFor(state, held);
    if (lock === null) return write();
    let begun = false;
    try {
      const done = withShortLock(lock, counts ? waitMs : Math.min(waitMs, WAIT_MS), () => {
        begun = true;
        write();
      });
      if (done !== null) return;
    } catch (error) {
      if (begun) throw error;
      return write(); // the disk of our state is full: that is no reason to be silent here
    }
    throw new Error('another heartbeat is being written');
  });

/**
 * In our own state, never in the project: a hostile project could put a link, a FIFO or a directory in its
 * place. Null where there is no such place: a beat is whole without a lock too, only two counts at once may be one.
 */
const lockFor = (state: string | null, held: HeldDirectory): string | null => {
  if (state === null) return null;
  try {
    makeStateDirectory(state);
    makeStateDirectory(join(state, LOCK_DIRECTORY));
    return lockPath(state, `beat:${held.identity}`);
  } catch {
    return null;
  }
};

const count = (value: unknown): number => (Number.isInteger(value) && Number(value) >= 0 ? Number(value) : 0);

const beaten = (fields: JsonObject, beat: Beat, now: Date): JsonObject => {
  const { status: _, session_id: known, ...kept } = fields;
  const named = typeof known === 'string' && known !== '' && known !== 'null' ? known : null;
  return {
    session_id: beat.session ?? named ?? beat.sessionIfNone ?? null,
    task_number: null,
    phase: 0,
    operation: 'initializing',
    ...kept,
    ...(beat.task === undefined ? {} : { task_number: beat.task }),
    last_update: localIso(now),
    ...(beat.phase === undefined ? {} : { phase: beat.phase }),
    ...(beat.operation === undefined ? {} : { operation: beat.operation }),
    ...(beat.proof === undefined ? {} : { proof: beat.proof }),
    ...(beat.status == null ? {} : { status: beat.status }),
    diagnostic_calls: count(fields.diagnostic_calls) + (beat.calls ?? 0),
    skipped_diagnostics: count(fields.skipped_diagnostics) + (beat.skipped ?? 0),
  };
};

/** As `date -Iseconds` writes it: local time with its offset. */
const localIso = (now: Date): string => {
  const offset = -now.getTimezoneOffset();
  const shifted = new Date(now.getTime() + offset * 60_000).toISOString().slice(0, 19);
  const two = (value: number): string => String(Math.floor(Math.abs(value))).padStart(2, '0');
  return `${shifted}${offset < 0 ? '-' : '+'}${two(offset / 60)}:${two(offset % 60)}`;
};

const readObject = (held: HeldDirectory): JsonObject => {
  const fd = openSync(
    held.at(PROGRESS_FILE),
    constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  );
  try {
    const buffer = Buffer.allocUnsafe(Math.min(fstatSync(fd).size, MOST_BYTES));
    const value: unknown = JSON.parse(buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, 0)));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
  } catch {
    return {}; // torn by a shell's `>`: there is nothing in it to keep
  } finally {
    closeSync(fd);
  }
};

/** A file in a held directory, replaced as a whole. */
export const replaceHeld = (held: HeldDirectory, name: string, text: string): void => {
  const draft = `${name}.${process.pid}.tmp`;
  rmSync(held.at(draft), { force: true });
  const fd = openSync(held.at(draft), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644);
  writeAndClose(fd, held.at(draft), text);
  try {
    renameSync(held.at(draft), held.at(name));
  } catch (error) {
    rmSync(held.at(draft), { force: true });
    throw error;
  }
};

/** Removes a regular file of ours from a held directory; nothing else of that name. */
export const removeHeld = (held: HeldDirectory, name: string): boolean => {
  const stat = lstatSync(held.at(name), { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile() || !isOurs(stat)) return false;
  rmSync(held.at(name), { force: true });
  return true;
};

/** Who holds it does so for a millisecond; a holder that runs may be starved, or stopped. */
const STALE_MS = 5000;
const STARVED_MS = 60_000;
/** Fifty who wait must not keep the one who works from its work. */
const SHORTEST_POLL_MS = 2;
const LONGEST_POLL_MS = 40;

const pause = new Int32Array(new SharedArrayBuffer(4));
const sleep = (ms: number): unknown => Atomics.wait(pause, 0, 0, ms);

/** Left by a holder that ended, or that is unknown and seconds old. */
const isStale = ({ text, mtimeMs }: FoundLock, stateOf: typeof lockState): boolean => {
  const owner = parseOwner(parseFields(text));
  const state = owner === null ? 'ended' : stateOf(owner);
  const age = Math.abs(Date.now() - mtimeMs);
  return state === 'ended' || age >= (state === 'runs' ? STARVED_MS : STALE_MS);
};

/**
 * Runs `work` while nothing else does under the same path. Null: it was held for all of that time, and nothing was done.
 * Throws at once where no lock can be made. Synchronous, because a hook has nothing else to do meanwhile.
 */
export const withShortLock = <T>(
  path: string,
  waitMs: number,
  work: () => T,
  stateOf = lockState,
): { readonly value: T } | null => {
  const until = Date.now() + waitMs;
  const text = JSON.stringify(ownerOf());
  for (let poll = SHORTEST_POLL_MS; ; poll = Math.min(poll * 2, LONGEST_POLL_MS)) {
    const found = tryLock(path, text);
    if (found === 'taken') break;
    if (found !== null && isStale(found, stateOf) && replaceStale(path, found, text)) break;
    const left = until - Date.now();
    if (left <= 0) return null;
    sleep(Math.min(left, poll * (0.5 + Math.random())));
  }
  const takenAt = Date.now();
  try {
    return { value: work() };
  } finally {
    // Before that no one can have taken it over, and there is no need to check.
    if (Math.abs(Date.now() - takenAt) < STALE_MS) unlinkIfThere(path);
    else removeLock(path, text);
  }
};
