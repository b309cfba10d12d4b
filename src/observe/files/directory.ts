import { lstatSync, opendirSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Reading } from '../../model/heartbeat.ts';
import { formatAt, namesAt, readKnownFile, type Where, whereBelow } from './directory-rules.ts';
import { isOurs } from './read-bounded.ts';

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
  /** Its path without symbolic links, once needed: a watch on a link would watch the directory that holds the link. */
  real: string | null;
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
  real: null,
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

const realPath = (path: string): string | null => {
  try {
    return realpathSync(path);
  } catch {
    return null; // vanished since the stat; the next look will notice
  }
};

export const realPathOf = (directory: Directory): string => {
  directory.real ??= realPath(directory.path);
  return directory.real ?? directory.path;
};

/** Does this path, links resolved, lie in that directory? */
const isInside = (path: string, root: string): boolean => {
  const real = realPath(path);
  const inside = realPath(root);
  return real !== null && inside !== null && real.startsWith(inside === '/' ? inside : `${inside}/`);
};

/**
 * An entry that may be read: a directory or a regular file that is ours. A link may lead to a directory of
 * ours anywhere, but a file only within the root: a repository could point a known name at any secret.
 */
export const lookAtEntry = (path: string, root: string): Stats | null => {
  try {
    const own = lstatSync(path, { throwIfNoEntry: false });
    if (own === undefined) return null;
    const entry = own.isSymbolicLink() ? look(path) : own;
    if (entry === null || !(entry.isFile() || entry.isDirectory())) return null;
    if (entry.isDirectory()) return entry === own || isOurs(entry) ? entry : null;
    return isOurs(entry) && (entry === own || isInside(path, root)) ? entry : null;
  } catch {
    return null;
  }
};

export const identityOfDirectory = (stat: Stats): string => `${stat.dev}:${stat.ino}:${stat.birthtimeMs}`;

/** A directory of this many bytes holds some 100,000 names; listing millions would take seconds. */
const LARGE_BYTES = 4 * 1024 ** 2;
const MOST_NAMES = 100_000;

/** Its names, and whether these are all. */
const list = (directory: Directory, stat: Stats): { names: string[]; all: boolean } => {
  try {
    if (stat.size < LARGE_BYTES) return { names: readdirSync(directory.path), all: true };
    const names: string[] = [];
    const open = opendirSync(directory.path, { bufferSize: 4096 });
    try {
      for (let entry = open.readSync(); entry !== null; entry = open.readSync()) {
        if (names.length === MOST_NAMES) return { names, all: false };
        names.push(entry.name);
      }
    } finally {
      open.closeSync();
    }
    return { names, all: true };
  } catch {
    return { names: [], all: true }; // may not be listed: nothing in it is known to us
  }
};

/** Work that can be put down at any point: it yields every now and then. */
export type Work<T = void> = Generator<undefined, T>;

const NAMES_AT_A_TIME = 256;

/** Brings `names` up to date: those that could be a known file or lead to one. False when some were left out. */
export function* listNames(directory: Directory, stat: Stats): Work<boolean> {
  const identity = identityOfDirectory(stat);
  const settled = directory.listedAt - directory.mtimeMs > STEP_MS;
  const same = directory.identity === identity && directory.mtimeMs === stat.mtimeMs && settled;
  if (directory.identity !== identity) directory.real = null;
  directory.identity = identity;
  const fixed = namesAt(directory.where);
  if (fixed !== null) directory.names = fixed;
  else if (!same) {
    const listedAt = Date.now();
    const { names, all } = list(directory, stat);
    const { where } = directory;
    const known: string[] = [];
    for (const [at, name] of names.entries()) {
      if (formatAt(where, name) !== null || whereBelow(where, name) !== null) known.push(name);
      if (at % NAMES_AT_A_TIME === 0) yield;
    }
    directory.names = known;
    // Only now: a list that was put down for good is made again.
    directory.listedAt = listedAt;
    directory.mtimeMs = stat.mtimeMs;
    return all;
  }
  return true;
}

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

/** These and every known directory below them, outer ones first. */
export function* allBelow(directories: Iterable<Directory>): Generator<Directory> {
  for (const directory of directories) {
    yield directory;
    yield* allBelow(directory.directories.values());
  }
}

/** As if it had never been looked at. */
export const forgetContents = (directory: Directory): void => {
  directory.directories.clear();
  directory.files.clear();
  directory.identity = '';
  directory.real = null;
  directory.listedAt = 0;
};
