import { accessSync, constants, lstatSync, type Stats, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { StateFacts } from '../../model/health.ts';
import { visible } from '../../model/text.ts';
import { belongsToUs } from '../state/own-file.ts';
import { statePlace } from '../state/state-directory.ts';

const statOrNull = (path: string): Stats | null => {
  try {
    return lstatSync(path);
  } catch {
    return null; // not there yet
  }
};

/** The directory itself, or the nearest one above it that is there: it will be made in that one. */
const nearest = (path: string): string =>
  statOrNull(path) !== null || path === dirname(path) ? path : nearest(dirname(path));

const writableAt = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false; // read-only, or closed to us
  }
};

const freeAt = (path: string): number | null => {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return null; // the file system does not tell
  }
};

/** How the place of our own state is doing, without touching it. */
export const stateFacts = (env: NodeJS.ProcessEnv): StateFacts => {
  const { directory, warning } = statePlace(env);
  if (directory === null) return { kind: 'nowhere', why: warning ?? 'HOME is not set' };
  const stat = statOrNull(directory);
  const base = nearest(directory);
  return {
    kind: 'there',
    path: visible(directory),
    elsewhere: warning,
    is: stat === null ? 'absent' : stat.isDirectory() ? 'directory' : 'other',
    ours: stat === null || belongsToUs(stat),
    mode: stat === null ? null : stat.mode & 0o777,
    writable: writableAt(base),
    free: freeAt(base),
  };
};
