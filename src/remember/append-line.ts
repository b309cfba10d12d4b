import { closeSync, constants, fstatSync, readSync, writeSync } from 'node:fs';
import { openOwn } from '../observe/state/own-file.ts';

/** Where a line went: the file as it was before and after it. */
export interface Appended {
  readonly sizeBefore: number;
  readonly sizeAfter: number;
}

/**
 * Appends whole lines. One that a kill or a full disk cut short must not swallow the next: it is closed first. Throws
 * what the file system says; then part of the text may have been written.
 */
export const appendLines = (path: string, textFor: (sizeBefore: number) => string): Appended => {
  const fd = openOwn(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
  try {
    const sizeBefore = fstatSync(fd).size;
    const text = textFor(sizeBefore);
    const bytes = Buffer.from(endsInMiddle(fd, sizeBefore) ? `\n${text}` : text);
    let written = 0;
    while (written < bytes.length) written += writeSync(fd, bytes, written);
    return { sizeBefore, sizeAfter: fstatSync(fd).size };
  } finally {
    closeSync(fd);
  }
};

const endsInMiddle = (fd: number, size: number): boolean => {
  const last = Buffer.alloc(1);
  return size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
};
