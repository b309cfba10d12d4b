import { closeSync, constants, fstatSync, readSync } from 'node:fs';
import { openOwn } from './own-file.ts';

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
