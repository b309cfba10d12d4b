import { linkSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { Identity } from '../../model/identity.ts';
import { isRunning } from '../../observe/procfs/kin.ts';
import { errorSentence, readOwnTail, replaceOwn } from '../../observe/state/own-file.ts';
import { makeStateDirectory } from '../../observe/state/state-directory.ts';

/** Below the state directory: one file per project that is being built. */
const LOCKS = 'locks';

/** Who holds a project's build lock: a session's tool call, or `reaptop exclusive`. */
export interface BuildHolder extends Identity {
  readonly by: 'hook' | 'exclusive';
  readonly key: string;
  readonly session: string | null;
  readonly toolUseId: string | null;
  /** The tool or the program, for whoever has to wait. */
  readonly what: string;
  /** Epoch milliseconds. */
  readonly since: number;
  /** The program that runs under it: while that one does, the project is not free. */
  readonly child?: Identity | undefined;
  /** Empty locks of the seeds' kind that lie beside it. */
  readonly beside?: readonly string[] | undefined;
}

export type BuildLock =
  /** `left`: empty locks that a holder which was killed has left. */
  | { readonly status: 'taken'; readonly left: readonly string[] }
  | { readonly status: 'held'; readonly holder: BuildHolder }
  /** It can be had by nobody: the disk is full, or the state is not ours. */
  | { readonly status: 'unavailable'; readonly why: string };

/** A tool call that never told its end, though its session lives: nothing builds for so long without a word. */
const TOOL_LOCK_MS = 30 * 60_000;
/** Where nobody can tell who runs. */
const BLIND_LOCK_MS = 10 * 60_000;

const MOST_BYTES = 16 * 1024;

/** 53 bits of a path, twice: names a file; the path itself stands in it. */
const hash = (text: string): string => {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at += 1) {
    a = Math.imul(a ^ text.charCodeAt(at), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(at), 0x85ebca6b) ^ (b >>> 13);
  }
  return `${(a >>> 0).toString(16).padStart(8, '0')}${(b >>> 0).toString(16).padStart(8, '0')}`;
};

const pathOf = (directory: string, key: string): string => join(directory, LOCKS, `${hash(key)}.json`);

/** Takes the lock of a project, or says who has it. One whose holder has ended is taken over. */
export const takeBuildLock = (directory: string, mine: BuildHolder, now: number): BuildLock => {
  const path = pathOf(directory, mine.key);
  let left: readonly string[] = [];
  try {
    makeStateDirectory(directory);
    makeStateDirectory(join(directory, LOCKS));
    // A stale lock is broken by one of several who see it; then all try again.
    for (let attempt = 0; attempt < 4; attempt += 1) {
      if (create(path, mine)) return { status: 'taken', left };
      const text = readOwnTail(path, MOST_BYTES);
      if (text === null) continue;
      const holder = parseHolder(text);
      if (holder !== null && isHeld(holder, now)) return { status: 'held', holder };
      left = holder?.beside ?? left;
      breakStale(path, text, mine.pid);
    }
    return { status: 'unavailable', why: 'too many want it at once' };
  } catch (error) {
    return { status: 'unavailable', why: errorSentence(error) };
  }
};

/** Who holds it now; null: nobody. */
export const buildHolder = (directory: string, key: string, now: number): BuildHolder | null => {
  try {
    const holder = parseHolder(readOwnTail(pathOf(directory, key), MOST_BYTES) ?? '');
    return holder !== null && isHeld(holder, now) ? holder : null;
  } catch {
    return null; // not ours: it holds nobody up
  }
};

const isSame = (a: BuildHolder, b: BuildHolder): boolean =>
  a.pid === b.pid && a.start === b.start && a.session === b.session && a.toolUseId === b.toolUseId;

/** Gives it back; somebody else's stays. */
export const releaseBuildLock = (
  directory: string,
  mine: Pick<BuildHolder, 'key'> & Partial<BuildHolder>,
): void => {
  const path = pathOf(directory, mine.key);
  try {
    const holder = parseHolder(readOwnTail(path, MOST_BYTES) ?? '');
    const ours = holder !== null && isSame(holder, { ...holder, ...mine });
    if (ours) rmSync(path, { force: true });
  } catch {
    // It is stale as soon as its holder has ended.
  }
};

/** Adds to what a lock says that we hold: who runs under it, and what lies beside it. */
export const describeBuildLock = (directory: string, mine: BuildHolder): void => {
  const path = pathOf(directory, mine.key);
  try {
    const holder = parseHolder(readOwnTail(path, MOST_BYTES) ?? '');
    if (holder !== null && isSame(holder, mine)) replaceOwn(path, JSON.stringify(mine));
  } catch {
    // a full disk: it is held all the same
  }
};

/** Says that the holder is still there, for whoever can only look at the file's age. */
export const touchBuildLock = (directory: string, key: string, now: Date): void => {
  try {
    utimesSync(pathOf(directory, key), now, now);
  } catch {
    // taken away by hand: whoever did that meant it
  }
};

/** The file appears with its content, whole: written beside, then linked, which fails when the name exists. */
const create = (path: string, holder: BuildHolder): boolean => {
  const draft = `${path}.${process.pid}`;
  replaceOwn(draft, JSON.stringify(holder));
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
};

/**
 * Only whoever has the breaker's own file may break: else two who see the same stale lock could remove, one after the
 * other, the stale one and the fresh one of the first.
 */
const breakStale = (path: string, stale: string, pid: number): void => {
  const breaker = `${path}.break`;
  const draft = `${breaker}.${process.pid}`;
  replaceOwn(draft, JSON.stringify({ pid, at: Date.now() }));
  try {
    linkSync(draft, breaker);
  } catch {
    breakOldBreaker(breaker);
    return;
  } finally {
    rmSync(draft, { force: true });
  }
  try {
    if (readOwnTail(path, MOST_BYTES) === stale) rmSync(path, { force: true });
  } finally {
    rmSync(breaker, { force: true });
  }
};

/** Breaking takes a millisecond: a breaker that is seconds old was killed in the middle. */
const BREAKER_MS = 5000;

const breakOldBreaker = (breaker: string): void => {
  try {
    const { at } = JSON.parse(readOwnTail(breaker, MOST_BYTES) ?? '{}') as { at?: unknown };
    if (typeof at === 'number' && Math.abs(Date.now() - at) < BREAKER_MS) return;
    const aside = `${breaker}.${process.pid}.old`;
    renameSync(breaker, aside);
    rmSync(aside, { force: true });
  } catch {
    // another was quicker
  }
};

const isHeld = (holder: BuildHolder, now: number): boolean => {
  if (holder.child !== undefined && isRunning(holder.child) === true) return true;
  const running = isRunning(holder);
  const age = now - holder.since;
  if (running === null) return age < BLIND_LOCK_MS && age > -BLIND_LOCK_MS;
  return running && (holder.by === 'exclusive' || age < TOOL_LOCK_MS);
};

const isIdentity = (value: unknown): value is Identity => {
  const { pid, start } = (value ?? {}) as Record<string, unknown>;
  return Number.isInteger(pid) && typeof start === 'string';
};

const parseHolder = (text: string): BuildHolder | null => {
  try {
    const value = JSON.parse(text) as Record<string, unknown>;
    const { pid, start, by, key, session, toolUseId, what, since, child, beside } = value;
    const sound =
      Number.isInteger(pid) &&
      typeof start === 'string' &&
      (by === 'hook' || by === 'exclusive') &&
      typeof key === 'string' &&
      (session === null || typeof session === 'string') &&
      (toolUseId === null || typeof toolUseId === 'string') &&
      typeof what === 'string' &&
      typeof since === 'number';
    if (!sound) return null;
    const holder = { pid, start, by, key, session, toolUseId, what, since } as BuildHolder;
    return {
      ...holder,
      ...(isIdentity(child) ? { child } : {}),
      ...(Array.isArray(beside) ? { beside: beside.filter(path => typeof path === 'string') } : {}),
    };
  } catch {
    return null; // cut short by a full disk: as good as stale
  }
};
