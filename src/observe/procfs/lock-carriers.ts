import { readlinkSync, realpathSync } from 'node:fs';
import type { Identity } from '../../model/identity.ts';
import { allKin } from './kin.ts';
import { readText } from './read.ts';

/** Everything that was started under a lock carries its nonce in this variable; locks inside locks add theirs. */
export const LOCKS_VARIABLE = 'REAPTOP_LOCKS';
/** The lock's file is open under this number there: high, because builds use the low ones themselves. */
export const LOCK_DESCRIPTOR = 99;

const carries = (pid: number, nonce: string, path: string): boolean => {
  const environ = readText(`/proc/${pid}/environ`) ?? '';
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

/** What still runs of what was started under a lock, whoever its parent is now; by environment or by descriptor. */
export const lockCarriers = (nonce: string, path: string): readonly Identity[] => {
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
