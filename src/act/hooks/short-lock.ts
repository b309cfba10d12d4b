import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
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
  for (let poll = SHORTEST_POLL_MS; !take(path); poll = Math.min(poll * 2, LONGEST_POLL_MS)) {
    if (Date.now() >= until) return null;
    breakStale(path);
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

/** Moved aside before it is removed: of several who see it stale one gets it. */
const breakStale = (path: string): void => {
  try {
    const { ino, mtimeMs } = statSync(path);
    const pid = Number(readFileSync(path, 'utf8'));
    const named = Number.isInteger(pid) && pid > 0;
    const age = Math.abs(Date.now() - mtimeMs);
    if (!(named && isGone(pid)) && age < (named ? STARVED_MS : STALE_MS)) return;
    const aside = `${path}.${process.pid}.stale`;
    renameSync(path, aside);
    // Somebody took it anew in between: theirs is put back, and they never notice.
    if (statSync(aside).ino === ino) rmSync(aside, { force: true });
    else renameSync(aside, path);
  } catch {
    // released or broken by another meanwhile: the next try tells
  }
};

/** Where there is no /proc, only age tells. */
const isGone = (pid: number): boolean => statAt(pid) === null && uptime() !== null;
