import { closeSync, constants, fchmodSync, fstatSync, readSync } from 'node:fs';
import { openOwn, writeWhole } from './own-file.ts';

/** For this user alone even if it existed before. */
export const openForAppend = (path: string): number => {
  const fd = openOwn(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
  fchmodSync(fd, 0o600);
  return fd;
};

/** A line that a kill or a full disk cut short must not swallow the next one: it is closed first. */
export const afterWholeLine = (fd: number, text: string): string => {
  const { size } = fstatSync(fd);
  const last = Buffer.alloc(1);
  const isTorn = size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
  return isTorn ? `\n${text}` : text;
};

/** Where a line went: the file as it was before and after it. */
export interface Appended {
  readonly sizeBefore: number;
  readonly sizeAfter: number;
}

/** Appends whole lines. Throws what the file system says; then part of the text may have been written. */
export const appendLines = (path: string, textFor: (sizeBefore: number) => string): Appended => {
  const fd = openForAppend(path);
  try {
    const sizeBefore = fstatSync(fd).size;
    writeWhole(fd, afterWholeLine(fd, textFor(sizeBefore)));
    return { sizeBefore, sizeAfter: fstatSync(fd).size };
  } finally {
    closeSync(fd);
  }
};

/** Reads what was added to a file of our state since the last time, line by line, by whomever it was written. */
export class FollowedLines {
  readonly #path: string | null;
  /** More than this between two looks is read from its end. */
  readonly #mostBytes: number;
  #inode = -1;
  #offset = 0;

  constructor(path: string | null, mostBytes: number) {
    this.#path = path;
    this.#mostBytes = mostBytes;
  }

  /** Unreadable, or not there yet: nothing. */
  next(): readonly string[] {
    if (this.#path === null) return [];
    try {
      const fd = openOwn(this.#path, constants.O_RDONLY);
      try {
        return this.#read(fd);
      } finally {
        closeSync(fd);
      }
    } catch {
      return [];
    }
  }

  #read(fd: number): readonly string[] {
    const { ino, size } = fstatSync(fd);
    // Rotated: what came to the old file's end meanwhile is lost to the reader, not to the log.
    if (ino !== this.#inode || size < this.#offset) this.#offset = 0;
    this.#inode = ino;
    if (size === this.#offset) return [];
    const from = Math.max(this.#offset, size - this.#mostBytes);
    const buffer = Buffer.alloc(size - from);
    const text = buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, from));
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    this.#offset = from + Buffer.byteLength(whole);
    return whole.split('\n').filter(line => line !== '');
  }
}
