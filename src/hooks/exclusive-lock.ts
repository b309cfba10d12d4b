import { closeSync, constants, utimesSync } from 'node:fs';
import { join } from 'node:path';
import {
  type FoundLock,
  LOCK_DIRECTORY,
  type LockOwner,
  lockPath,
  lockState,
  parseFields,
  parseOwner,
  readLock,
  removeLock,
  replaceStale,
  tryLock,
} from '../act/record/file-lock.ts';
import { LOCKS_VARIABLE, lockCarriers } from '../observe/lock-carriers.ts';
import { bootId } from '../observe/one-process.ts';
import { errorSentence, openOwn } from '../observe/state/own-file.ts';
import { makeStateDirectory } from '../observe/state/state-directory.ts';

/** Who holds a project's build lock: a session's tool call, or `reaptop exclusive` and `prebuild`. */
export interface BuildHolder extends LockOwner {
  readonly by: 'hook' | 'exclusive';
  readonly key: string;
  readonly session: string | null;
  readonly toolUseId: string | null;
  /** The tool or program, to name in the message of a waiting one. */
  readonly what: string;
  /** Epoch milliseconds. */
  readonly since: number;
  /** Empty locks of the seeds' kind that lie beside it. */
  readonly beside?: readonly string[] | undefined;
}

export type BuildLock =
  /** `left`: empty locks that a holder which was killed has left. */
  | { readonly status: 'taken'; readonly left: readonly string[] }
  | { readonly status: 'held'; readonly holder: BuildHolder }
  /** It cannot be taken: the disk is full, or the state is not ours. */
  | { readonly status: 'unavailable'; readonly why: string };

/** A tool call without an end, though its session lives: no build takes as long without a word. */
const TOOL_LOCK_MS = 30 * 60_000;
/** Where we cannot see who runs. */
const BLIND_LOCK_MS = 10 * 60_000;
/** Where only a lock's age is known, one of the seeds' is stale after 30 s, one of ours after a minute. */
const TOUCH_MS = 10_000;
const TOUCHED_MS = 60_000;
/** Clocks of two machines differ by less; a lock from further ahead was dated by hand, or before the clock was set. */
const AHEAD_MS = 60_000;
const isYoungerThan = (limit: number, at: number, now: number): boolean =>
  now - at < limit && now - at > -AHEAD_MS;

/** Loaded when it is needed: it takes a hook 5 ms. */
const flock = (mode: '-s' | '-x', fd: number, wait: boolean): number | null => {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const stdio = ['ignore', 'ignore', 'ignore', fd] as const;
  return spawnSync('flock', [mode, ...(wait ? [] : ['-n']), '3'], { stdio: [...stdio], timeout: 1000 })
    .status;
};

/**
 * Whether anything is seen to have the kernel's lock on this file, also in a pid namespace that we cannot look into.
 * Without flock(1), touching the file is the only sign.
 */
const isKernelLocked = (path: string): boolean => {
  const fd = openOwn(path, constants.O_RDONLY);
  try {
    return flock('-s', fd, false) === 1;
  } finally {
    closeSync(fd);
  }
};

/** The lock's file, open and locked by the kernel for as long as any process has inherited it. Null: it cannot be. */
export const openBuildLock = (directory: string, { key }: Pick<BuildHolder, 'key'>): number | null => {
  try {
    const fd = openOwn(lockPath(directory, key), constants.O_RDWR);
    flock('-x', fd, true);
    return fd;
  } catch {
    return null; // removed by hand, or too many open files: the environment still marks what we start
  }
};

/**
 * Runs `work` under a lock that we have taken: it is kept fresh, and given back unless something that was started under
 * it still runs.
 */
export const whileHeld = async <T>(
  directory: string,
  mine: BuildHolder,
  work: (lock: number | null) => Promise<T>,
  touchBeside: (now: Date) => void = () => {},
): Promise<T> => {
  const touch = setInterval(() => {
    const now = new Date();
    touchBuildLock(directory, mine.key, now);
    touchBeside(now);
  }, TOUCH_MS);
  const lock = openBuildLock(directory, mine);
  try {
    return await work(lock);
  } finally {
    clearInterval(touch);
    if (lock !== null) closeSync(lock);
    releaseBuildLock(directory, mine);
  }
};

/** The environment of what runs under a lock: what we were started with, and the lock's mark. */
export const underLock = (env: NodeJS.ProcessEnv, { nonce }: LockOwner): NodeJS.ProcessEnv => ({
  ...env,
  [LOCKS_VARIABLE]: [env[LOCKS_VARIABLE], nonce].filter(Boolean).join(' '),
});

/** Whether it still keeps others out: its holder is there, or anything that was started under it. */
export const isHeld = (
  holder: BuildHolder,
  found: FoundLock,
  path: string,
  now: number,
  state = lockState(holder),
): boolean => {
  if (holder.by === 'hook')
    return state === 'runs'
      ? isYoungerThan(TOOL_LOCK_MS, holder.since, now)
      : state !== 'ended' && isYoungerThan(BLIND_LOCK_MS, holder.since, now);
  if (state === 'runs') return true;
  if (state === 'ended') return holder.nonce !== '' && lockCarriers(holder.nonce, path).length > 0;
  if (isYoungerThan(TOUCHED_MS, found.mtimeMs, now)) return true;
  return state === 'elsewhere' && holder.boot === bootId() && isKernelLocked(path);
};

/** A waiting user is shown a process that runs: the holder, or what it left. */
const shown = (holder: BuildHolder, path: string): BuildHolder =>
  lockState(holder) === 'ended' ? { ...holder, ...lockCarriers(holder.nonce, path)[0] } : holder;

/** Null: nothing that makes sense. */
export const parseHolder = (text: string): BuildHolder | null => {
  const fields = parseFields(text);
  const owner = parseOwner(fields);
  const { by, key, session, toolUseId, what, since, beside } = fields;
  const sound =
    (by === 'hook' || by === 'exclusive') &&
    typeof key === 'string' &&
    (session === null || typeof session === 'string') &&
    (toolUseId === null || typeof toolUseId === 'string') &&
    typeof what === 'string' &&
    typeof since === 'number';
  if (!sound || owner === null) return null;
  return {
    ...owner,
    ...({ by, key, session, toolUseId, what, since } as Omit<BuildHolder, keyof LockOwner>),
    ...(Array.isArray(beside) ? { beside: beside.filter(path => typeof path === 'string') } : {}),
  };
};

/** Takes the lock of a project, or says who has it. One whose holder has ended is taken over. */
export const takeBuildLock = (directory: string, mine: BuildHolder, now: number): BuildLock => {
  const path = lockPath(directory, mine.key);
  const text = JSON.stringify(mine);
  try {
    makeStateDirectory(directory);
    makeStateDirectory(join(directory, LOCK_DIRECTORY));
    // A stale lock is replaced by one of several who see it; then the others find a fresh one.
    for (let attempt = 0; attempt < 4; attempt += 1) {
      // Read first: a waiting process asks several times a second, and a try writes a file.
      const found = readLock(path) ?? tryLock(path, text);
      if (found === 'taken') return { status: 'taken', left: [] };
      if (found === null) continue;
      const holder = parseHolder(found.text);
      if (holder !== null && isHeld(holder, found, path, now))
        return { status: 'held', holder: shown(holder, path) };
      if (replaceStale(path, found, text)) return { status: 'taken', left: holder?.beside ?? [] };
    }
    return { status: 'unavailable', why: 'too many processes compete for it' };
  } catch (error) {
    return { status: 'unavailable', why: errorSentence(error) };
  }
};

/** The holder; null: free. */
export const buildHolder = (directory: string, key: string, now: number): BuildHolder | null => {
  try {
    const path = lockPath(directory, key);
    const found = readLock(path);
    const holder = found === null ? null : parseHolder(found.text);
    return found !== null && holder !== null && isHeld(holder, found, path, now) ? shown(holder, path) : null;
  } catch {
    return null; // not ours: it blocks nothing
  }
};

const isSame = (a: BuildHolder, b: BuildHolder): boolean =>
  a.pid === b.pid &&
  a.start === b.start &&
  a.session === b.session &&
  a.toolUseId === b.toolUseId &&
  a.nonce === b.nonce;

/** Gives it back; another holder's stays, and so does ours while anything that was started under it runs. */
export const releaseBuildLock = (
  directory: string,
  mine: Pick<BuildHolder, 'key'> & Partial<BuildHolder>,
): void => {
  const path = lockPath(directory, mine.key);
  try {
    const found = readLock(path);
    const holder = found === null ? null : parseHolder(found.text);
    if (found === null || holder === null || !isSame(holder, { ...holder, ...mine })) return;
    if (holder.by === 'exclusive' && lockCarriers(holder.nonce, path).length > 0) return;
    removeLock(path, found.text);
  } catch {
    // It is stale as soon as its holder has ended.
  }
};

/** Shows that the holder is alive where only the file's age is known. */
export const touchBuildLock = (directory: string, key: string, now: Date): void => {
  try {
    utimesSync(lockPath(directory, key), now, now);
  } catch {
    // removed by hand, on purpose
  }
};
