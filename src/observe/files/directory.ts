import { readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Reading } from '../../model/heartbeat.ts';
import { readKnownFile } from './read-known.ts';
import { formatAt, namesAt, type Where, whereBelow } from './where.ts';

interface KnownFile {
  readonly reading: Reading;
  readonly stamp: string;
  readonly readAt: number;
}

/** One directory that can hold known files, as it was when last looked at. */
export interface Directory {
  readonly path: string;
  readonly root: string;
  readonly where: Where;
  /** Tells it from another that took its name: inode numbers are recycled, so with birth time. '' : not there. */
  identity: string;
  /** Its path without symbolic links: a watch on a link would watch the directory that holds the link. */
  real: string;
  mtimeMs: number;
  listedAt: number;
  names: readonly string[];
  readonly directories: Map<string, Directory>;
  readonly files: Map<string, KnownFile>;
}

/** Timestamps advance in steps (4 ms on ext4): what changed in the step of our last look may have changed again. */
const STEP_MS = 100;

export const newDirectory = (path: string, root: string, where: Where): Directory => ({
  path,
  root,
  where,
  identity: '',
  real: path,
  mtimeMs: 0,
  listedAt: 0,
  names: [],
  directories: new Map(),
  files: new Map(),
});

export const look = (path: string): Stats | null => {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null; // ENOTDIR, ELOOP, EACCES on the way: nothing there that we may see
  }
};

const realPath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path; // vanished since the stat; the next look will notice
  }
};

export const identityOfDirectory = (stat: Stats): string => `${stat.dev}:${stat.ino}:${stat.birthtimeMs}`;

/** Brings `names` up to date: those that could be a known file or lead to one. */
export const listNames = (directory: Directory, stat: Stats): void => {
  const identity = identityOfDirectory(stat);
  const settled = directory.listedAt - directory.mtimeMs > STEP_MS;
  if (directory.identity !== identity) directory.real = realPath(directory.path);
  const same = directory.identity === identity && directory.mtimeMs === stat.mtimeMs && settled;
  directory.identity = identity;
  directory.mtimeMs = stat.mtimeMs;
  const fixed = namesAt(directory.where);
  if (fixed !== null) directory.names = fixed;
  else if (!same) {
    directory.listedAt = Date.now();
    try {
      directory.names = readdirSync(directory.path).filter(
        name => formatAt(directory.where, name) !== null || whereBelow(directory.where, name) !== null,
      );
    } catch {
      directory.names = []; // may not be listed: nothing in it is known to us
    }
  }
};

/** Re-reads a file if it changed. True when what we know of it is different now. */
export const checkFile = (directory: Directory, name: string, stat: Stats): boolean => {
  const known = directory.files.get(name);
  const stamp = `${stat.mtimeMs}:${stat.size}:${stat.ino}`;
  if (known?.stamp === stamp && known.readAt - stat.mtimeMs > STEP_MS) return false;
  const format = formatAt(directory.where, name);
  if (format === null) return false;
  const readAt = Date.now();
  const path = join(directory.path, name);
  const reading = readKnownFile(path, directory.root, format, stat, known?.reading ?? null);
  if (reading === null) return directory.files.delete(name);
  directory.files.set(name, { reading, stamp, readAt });
  return known?.stamp !== stamp || known.reading.unreadable !== reading.unreadable;
};
