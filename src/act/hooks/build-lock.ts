import { linkSync, renameSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { errorSentence, linkUnlessTaken, readOwnTail, replaceOwn } from '../../observe/state/own-file.ts';
import { makeStateDirectory } from '../../observe/state/state-directory.ts';
import { type BuildHolder, isHeld, isSame, parseHolder } from './build-holder.ts';

export type { BuildHolder } from './build-holder.ts';

/** Below the state directory: one file per project that is being built. */
const LOCKS = 'locks';

export type BuildLock =
  /** `left`: empty locks that a holder which was killed has left. */
  | { readonly status: 'taken'; readonly left: readonly string[] }
  | { readonly status: 'held'; readonly holder: BuildHolder }
  /** It can be had by nobody: the disk is full, or the state is not ours. */
  | { readonly status: 'unavailable'; readonly why: string };

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
    return { status: 'unavailable', why: 'too many processes want it at once' };
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

/** Gives it back; somebody else's stays. */
export const releaseBuildLock = (
  directory: string,
  mine: Pick<BuildHolder, 'key'> & Partial<BuildHolder>,
): void => {
  const path = pathOf(directory, mine.key);
  try {
    const holder = parseHolder(readOwnTail(path, MOST_BYTES) ?? '');
    const ours = holder !== null && isSame(holder, { ...holder, ...mine });
    if (ours) rmSync(path);
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
  return linkUnlessTaken(draft, path);
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

const isFresh = (text: string | null): boolean => {
  try {
    const { at } = JSON.parse(text ?? '{}') as { at?: unknown };
    return typeof at === 'number' && Math.abs(Date.now() - at) < BREAKER_MS;
  } catch {
    return false; // it appears whole: what does not make sense was torn by a crash of the machine
  }
};

const breakOldBreaker = (breaker: string): void => {
  try {
    if (isFresh(readOwnTail(breaker, MOST_BYTES))) return;
    const aside = `${breaker}.${process.pid}.old`;
    renameSync(breaker, aside);
    rmSync(aside);
  } catch {
    // another was quicker
  }
};
