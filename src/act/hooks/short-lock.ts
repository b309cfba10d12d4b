import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { statAt, uptime } from '../../observe/procfs/kin.ts';

/** Who holds it does so for a millisecond; one that lies longer was left by a process that was killed. */
const STALE_MS = 5000;
const POLL_MS = 3;

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
  while (!take(path)) {
    if (Date.now() >= until) return null;
    breakStale(path);
    sleep(POLL_MS * (0.5 + Math.random()));
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
    const ended = Number.isInteger(pid) && pid > 0 && isGone(pid);
    if (!ended && Math.abs(Date.now() - mtimeMs) < STALE_MS) return;
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
