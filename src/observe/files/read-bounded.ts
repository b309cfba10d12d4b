import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';

/** What a file looked like when it was read. Times are epoch milliseconds. */
export interface FileStat {
  readonly size: number;
  readonly mtimeMs: number;
}

export type BoundedRead =
  | {
      readonly ok: true;
      readonly text: string;
      readonly stat: FileStat;
      readonly cut: boolean;
      /** Whose file it is. */
      readonly owner: number;
    }
  | {
      readonly ok: false;
      readonly gone: boolean;
      readonly why: string;
      /** The system's own word for it, where it has one. */
      readonly code: string | null;
      readonly stat: FileStat | null;
    };

/** What a file must be before a byte of it is read: the rest is left unread, whatever it is. */
export interface ReadRules {
  /** A symbolic link is not followed. */
  readonly noLink?: boolean;
  /** It belongs to us or to root. */
  readonly ours?: boolean;
}

/** Ours, or root's: what another user wrote says what that user wants us to believe. */
export const isOurs = ({ uid }: { readonly uid: number }): boolean =>
  uid === 0 || process.getuid === undefined || uid === process.getuid();

/** Nothing we follow is longer, except logs, of which only the end matters. */
export const READ_LIMIT = 64 * 1024;

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ELOOP: 'a symbolic link',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files on this machine',
  EIO: 'the disk failed to read it',
  ENXIO: 'not a regular file',
};

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';

const reasonOf = (error: unknown): string => REASONS[codeOf(error)] ?? (codeOf(error) || 'cannot be read');

const isGone = (error: unknown): boolean => codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';

/** As much as there is, up to the buffer's length. */
export const fill = (fd: number, buffer: Buffer, position: number): number => {
  let got = 0;
  while (got < buffer.length) {
    const n = readSync(fd, buffer, got, buffer.length - got, position + got);
    if (n === 0) break; // truncated since the stat
    got += n;
  }
  return got;
};

const failed = (error: unknown, gone: boolean): BoundedRead => ({
  ok: false,
  gone,
  why: reasonOf(error),
  code: codeOf(error) || null,
  stat: null,
});

const read = (path: string, limit: number, from: 'head' | 'tail', rules: ReadRules): BoundedRead => {
  let fd: number;
  try {
    // Non-blocking, so that a FIFO under a known name cannot hang us.
    const link = rules.noLink === true ? constants.O_NOFOLLOW : 0;
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | link);
  } catch (error) {
    return failed(error, isGone(error));
  }
  try {
    const info = fstatSync(fd);
    const stat = { size: info.size, mtimeMs: info.mtimeMs };
    const refused = (why: string, code: string | null = null): BoundedRead => ({
      ok: false,
      gone: false,
      why,
      code,
      stat,
    });
    if (!info.isFile()) return refused('not a regular file', info.isDirectory() ? 'EISDIR' : null);
    if (rules.ours === true && !isOurs(info)) return refused('it belongs to another user');
    const length = Math.min(info.size, limit);
    const buffer = Buffer.allocUnsafe(length);
    const got = fill(fd, buffer, from === 'tail' ? info.size - length : 0);
    const text = buffer.toString('utf8', 0, got);
    return { ok: true, text, stat, cut: info.size > limit, owner: info.uid };
  } catch (error) {
    return failed(error, false);
  } finally {
    closeSync(fd);
  }
};

/** The one way to read an untrusted file: regular, bounded, never waiting. */
export const readHead = (path: string, limit = READ_LIMIT, rules: ReadRules = {}): BoundedRead =>
  read(path, limit, 'head', rules);

/** The last `limit` bytes; when `cut`, the first line is probably half of one. */
export const readTail = (path: string, limit = READ_LIMIT, rules: ReadRules = {}): BoundedRead =>
  read(path, limit, 'tail', rules);

/**
 * A file that came with a directory and may only speak for it: ours, and in there once links are followed.
 * A repository could otherwise point a known name at any file we may read, and have us quote it.
 */
export const readInside = (path: string, directory: string, limit = READ_LIMIT): BoundedRead => {
  try {
    const real = realpathSync(path);
    const inside = realpathSync(directory);
    if (!real.startsWith(inside === '/' ? inside : `${inside}/`))
      return { ok: false, gone: false, why: 'it leads out of its directory', code: null, stat: null };
    return readHead(real, limit, { noLink: true, ours: true });
  } catch (error) {
    return failed(error, isGone(error));
  }
};
