import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isOurs } from '../read-bounded.ts';

/** Far more than the state of an orchestrator takes. */
const MOST_BYTES = 32 * 1024 ** 2;
const CHUNK = 256 * 1024;
const ATTEMPTS = 3;

/** Why a database cannot be read now, in words that follow its path. */
export class Unread extends Error {}

const OPEN = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

const statOf = (path: string): Promise<Stats | null> => lstat(path).catch(() => null);

const stampOf = (stat: Stats | null): string =>
  stat === null ? '-' : `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}`;

/** What the database and its log look like now: as long as it is the same, nothing was written. */
export const stampOfDatabase = async (path: string): Promise<string> => {
  const stats = await Promise.all([path, `${path}-wal`, `${path}-journal`].map(statOf));
  return stats.map(stampOf).join(' ');
};

const copyFrom = async (from: FileHandle, to: string): Promise<void> => {
  const target = await open(to, 'wx', 0o600);
  try {
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (let at = 0; at < MOST_BYTES; ) {
      const { bytesRead } = await from.read(buffer, 0, CHUNK, at);
      if (bytesRead === 0) return;
      await target.write(buffer, 0, bytesRead);
      at += bytesRead;
    }
    throw new Unread(`is larger than ${MOST_BYTES / 1024 ** 2} MiB`);
  } finally {
    await target.close();
  }
};

/** Copies one file of it; one that is not there is none. */
const copyFile = async (path: string, to: string): Promise<void> => {
  let handle: FileHandle;
  try {
    handle = await open(path, OPEN);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw new Unread('cannot be opened');
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Unread('is not a regular file');
    if (!isOurs(stat)) throw new Unread('belongs to another user');
    await copyFrom(handle, to);
  } finally {
    await handle.close();
  }
};

/**
 * Copies a database with its write-ahead log to a directory of our own, and gives the copy to `use`. SQLite
 * itself makes files beside a database that it opens only to read; this way nothing is made, locked or
 * even looked at there, and whoever writes to it never notices. A write in the middle is seen in the
 * times of the files, and the copy is made again.
 */
export const withCopyOf = async <T>(path: string, use: (copy: string) => Promise<T>): Promise<T> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const directory = await mkdtemp(join(tmpdir(), 'reaptop-database-'));
    try {
      const before = await stampOfDatabase(path);
      if (!before.endsWith(' -')) throw new Unread('is being written to');
      const copy = join(directory, 'state.sqlite3');
      await copyFile(path, copy);
      await copyFile(`${path}-wal`, `${copy}-wal`);
      if ((await stampOfDatabase(path)) === before) return await use(copy);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
  throw new Unread('is written to all the time');
};
