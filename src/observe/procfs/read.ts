import { closeSync, constants, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';

const { O_RDONLY } = constants;

/**
 * One buffer for every small read: at 5,000 processes, a fresh Buffer per file is most of the cost.
 * 64 KiB is also the cap on an argv; what lies beyond is cut and said so.
 */
export const BUFFER = Buffer.allocUnsafe(64 * 1024);

/** Races and permissions are results here: callers must tell "vanished" from "may not look". */
export type ReadFailure = 'gone' | 'denied';

const failureOf = (error: unknown): ReadFailure => {
  const code = (error as NodeJS.ErrnoException).code;
  // ESRCH: the process ended between open and read. EINVAL: a readlink on a kernel thread.
  return code === 'ENOENT' || code === 'ESRCH' || code === 'ENOTDIR' || code === 'EINVAL' ? 'gone' : 'denied';
};

const readOnce = (fd: number): number => readSync(fd, BUFFER, 0, BUFFER.length, null);

/** procfs hands out at most a page or so per read for some files: go on until it says 0. */
const readToEnd = (fd: number): number => {
  for (let length = 0; ; ) {
    const got = readSync(fd, BUFFER, length, BUFFER.length - length, null);
    length += got;
    if (got === 0 || length === BUFFER.length) return length;
  }
};

const readBy = (read: (fd: number) => number, path: string): number | ReadFailure => {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY);
  } catch (error) {
    return failureOf(error);
  }
  try {
    return read(fd);
  } catch (error) {
    return failureOf(error);
  } finally {
    closeSync(fd);
  }
};

/** Opened to be read again and again, and closed by the caller; null where it cannot be opened. */
export const openToKeep = (path: string): number | null => {
  try {
    return openSync(path, O_RDONLY);
  } catch {
    return null; // reading it by its path shows why
  }
};

/** From its beginning into BUFFER, and how many bytes; null when there is nothing to read any more. */
export const readKept = (fd: number): number | null => {
  try {
    return readSync(fd, BUFFER, 0, BUFFER.length, 0) || null;
  } catch {
    return null; // ESRCH: its process has ended
  }
};

/** Fills BUFFER and gives the number of bytes, or why not. */
export const readIntoBuffer = (path: string): number | ReadFailure => readBy(readToEnd, path);

/** As above for files that always come in one read (stat, cmdline, environ): saves the second system call. */
export const readOnceIntoBuffer = (path: string): number | ReadFailure => readBy(readOnce, path);

export const readText = (path: string): string | null => {
  const length = readIntoBuffer(path);
  return typeof length === 'number' ? BUFFER.toString('utf8', 0, length) : null;
};

export const readLink = (path: string): string | null => {
  try {
    return readlinkSync(path);
  } catch {
    return null; // vanished or not ours: both mean "not known"
  }
};

export const listDirectory = (path: string): string[] | ReadFailure => {
  try {
    return readdirSync(path);
  } catch (error) {
    return failureOf(error);
  }
};

/** Made when first asked for, and kept. */
export const lazily = <T>(make: () => T): (() => T) => {
  let made: { readonly it: T } | undefined;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
};
