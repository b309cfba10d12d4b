import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';

export const belongsToUs = (stat: Pick<Stats, 'uid'>): boolean =>
  process.geteuid === undefined || stat.uid === process.geteuid();

/**
 * Opens a file of our state. Never through a symbolic link, never waiting for the other end of a
 * FIFO, and only what is a regular file of ours. Throws what the file system says.
 */
export const openOwn = (path: string, flags: number): number => {
  const fd = openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY, 0o600);
  const stat = fstatSync(fd);
  if (stat.isFile() && belongsToUs(stat)) return fd;
  closeSync(fd);
  throw new Error(stat.isFile() ? 'it belongs to another user' : 'it is not a regular file');
};

/** What stands at its end, and what kind of file it is; null when it does not exist. */
export const readOwnEnd = (
  path: string,
  limit: number,
): {
  readonly text: string;
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
} | null => {
  let fd: number;
  try {
    fd = openOwn(path, constants.O_RDONLY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const { size, mode, mtimeMs } = fstatSync(fd);
    const buffer = Buffer.allocUnsafe(Math.min(size, limit));
    const got = readSync(fd, buffer, 0, buffer.length, size - buffer.length);
    return { text: buffer.toString('utf8', 0, got), size, mode, mtimeMs };
  } finally {
    closeSync(fd);
  }
};

/** The last bytes of it, at most `limit`; null when it does not exist. */
export const readOwnTail = (path: string, limit: number): string | null =>
  readOwnEnd(path, limit)?.text ?? null;

export const writeWhole = (fd: number, text: string): void => {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
};

/** A new file with this text, or none: a full disk leaves no half of one. */
export const writeAndClose = (fd: number, path: string, text: string): void => {
  try {
    writeWhole(fd, text);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
};

/**
 * Writes a new file under the first of these names that is free, and returns it: never over one that is
 * there, never through a link, for us alone to read, whole or not at all. Null: all of them are taken.
 */
export const writeUnderFreeName = (names: Iterable<string>, text: string): string | null => {
  for (const name of names) {
    let fd: number;
    try {
      fd = openOwn(name, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw error;
    }
    writeAndClose(fd, name, text);
    return name;
  }
  return null;
};

/** A file goes, if it is there. In a hook's time: rmSync looks at what it removes, twice, and loads code for that. */
export const unlinkIfThere = (path: string): void => {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
};

/** Gives `path` to what lies at `draft`, whole, unless the name is taken; the draft goes in any case. */
export const linkUnlessTaken = (draft: string, path: string): boolean => {
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    unlinkIfThere(draft);
  }
};

/** A new file; one that an earlier process of this number has left goes. */
const openDraft = (draft: string): number => {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  try {
    return openOwn(draft, flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    unlinkIfThere(draft);
    return openOwn(draft, flags);
  }
};

/**
 * Written beside, then renamed: a reader finds the old file or the new one, whole. `durable`: on disk before it takes
 * the name, so that a crash of the machine leaves one of the two as well.
 */
export const replaceOwn = (path: string, text: string, { durable = false } = {}): void => {
  const draft = `${path}.${process.pid}.tmp`;
  const fd = openDraft(draft);
  try {
    writeWhole(fd, text);
    if (durable) fsyncSync(fd);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
};

export const errorSentence = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  const known = code === undefined ? undefined : SENTENCES[code];
  return known ?? message ?? String(error);
};

const SENTENCES: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'it has reached its size limit',
  EROFS: 'the file system is read-only',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  ENOTDIR: 'a part of the path is not a directory',
  EISDIR: 'a directory is in its place',
  EEXIST: 'something else is in its place',
  ENOENT: 'it cannot be made there',
  ELOOP: 'it is a symbolic link',
  ENXIO: 'it is not a regular file',
};
