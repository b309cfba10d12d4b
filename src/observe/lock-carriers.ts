import { readlinkSync, realpathSync } from 'node:fs';
import type { Identity } from '../model/identity.ts';
import { carriersOf } from './darwin/one-process.ts';
import { allKin } from './one-process.ts';
import { readText } from './procfs/read.ts';
import { isEmptyEnviron } from './procfs/stat.ts';

/** Everything that was started under a lock carries its nonce in this variable; locks inside locks add theirs. */
export const LOCKS_VARIABLE = 'REAPTOP_LOCKS';
/** The lock's file is open under this number there: high, because builds use the low ones themselves. */
export const LOCK_DESCRIPTOR = 99;

/** An exec takes well under a millisecond, on a loaded machine a few. */
const READS = 10;
const BETWEEN_READS_MS = 2;

/** In the middle of an exec the environment is empty for a moment, and a carrier must not be missed then. */
const environAt = (pid: number): string => {
  for (let read = 1; ; read += 1) {
    const environ = readText(`/proc/${pid}/environ`);
    if (environ === null) return '';
    if (environ !== '' || read === READS || isEmptyEnviron('/proc', pid)) return environ;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BETWEEN_READS_MS);
  }
};

const carries = (pid: number, nonce: string, path: string): boolean => {
  const environ = environAt(pid);
  const marks = environ.split('\0').find(entry => entry.startsWith(`${LOCKS_VARIABLE}=`));
  if (
    marks
      ?.slice(LOCKS_VARIABLE.length + 1)
      .split(' ')
      .includes(nonce) === true
  )
    return true;
  try {
    return readlinkSync(`/proc/${pid}/fd/${LOCK_DESCRIPTOR}`) === path;
  } catch {
    return false; // another user's, gone, or without one
  }
};

/** What still runs of what was started under a lock, whatever its parent is now; by environment or by descriptor. */
export const lockCarriers = (nonce: string, path: string): readonly Identity[] => {
  if (process.platform === 'darwin') return carriersOf(LOCKS_VARIABLE, nonce);
  const real = realOf(path);
  return [...allKin().values()]
    .filter(({ pid, state }) => pid !== process.pid && state !== 'Z' && state !== 'X')
    .filter(({ pid }) => carries(pid, nonce, real))
    .map(({ pid, start }) => ({ pid, start }));
};

/** As the kernel names an open file. */
const realOf = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path; // taken away by hand
  }
};
