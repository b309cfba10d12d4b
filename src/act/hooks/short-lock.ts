import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { statAt, uptime } from '../../observe/procfs/kin.ts';

/** Who holds it does so for a millisecond. One that lies longer was left behind, unless its holder is there and starved. */
const STALE_MS = 5000;
const STARVED_MS = 60_000;
/** Fifty who wait must not keep the one who works from its work. */
const SHORTEST_POLL_MS = 2;
const LONGEST_POLL_MS = 40;

const pause = new Int32Array(new SharedArrayBuffer(4));
const sleep = (ms: number): unknown => Atomics.wait(pause, 0, 0, ms);

/**
 * Runs `work` while nobody else does under the same path. Null: it was not to be had in time, and nothing was done.
 * Synchronous, because a hook has nothing else to do meanwhile.
 */
export const withShortLock = <T>(
  path: string,
  waitMs: number,
  work: () => T,
): { readonly value: T } | null => {
  const until = Date.now() + waitMs;
  let seenStale: string | null = null;
  for (let poll = SHORTEST_POLL_MS; !take(path); poll = Math.min(poll * 2, LONGEST_POLL_MS)) {
    if (Date.now() >= until) return null;
    const stale = staleAt(path);
    // Seen twice: the first time its holder may have released it, and ended, between our two questions.
    if (stale !== null && stale === seenStale) breakStale(path, stale);
    seenStale = stale;
    sleep(poll * (0.5 + Math.random()));
  }
  try {
    return { value: work() };
  } finally {
    rmSync(path, { force: true });
  }
};

const take = (path: string): boolean => {
  let fd: number;
  try {
    fd = openSync(path, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(fd, String(process.pid));
    return true;
  } finally {
    closeSync(fd);
  }
};

/** A lock that its holder has left behind, told from every other one; null: it is held, or gone. */
const staleAt = (path: string): string | null => {
  try {
    const { ino, mtimeMs } = statSync(path);
    const pid = Number(readFileSync(path, 'utf8'));
    const named = Number.isInteger(pid) && pid > 0;
    const age = Math.abs(Date.now() - mtimeMs);
    const stale = (named && isGone(pid)) || age >= (named ? STARVED_MS : STALE_MS);
    return stale ? `${ino}:${mtimeMs}:${pid}` : null;
  } catch {
    return null; // released meanwhile: the next try tells
  }
};

/** Where there is no /proc, only age tells. */
const isGone = (pid: number): boolean => statAt(pid) === null && uptime() !== null;

/** By one at a time: two who saw the same stale lock could else remove it and the fresh one that followed. */
const breakStale = (path: string, stale: string): void => {
  const breaker = `${path}.break`;
  if (!take(breaker)) {
    if (staleAt(breaker) !== null) rmSync(breaker, { force: true });
    return;
  }
  try {
    if (staleAt(path) === stale) rmSync(path, { force: true });
  } finally {
    rmSync(breaker, { force: true });
  }
};
