import { closeSync, constants, fchmodSync, fstatSync, readSync } from 'node:fs';
import { openOwn, writeWhole } from './own-file.ts';

/** For this user alone even if somebody made it before us. */
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
