import { closeSync, constants, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openOwn, writeWhole } from '../observe/state/own-file.ts';

const MOST_NAMESAKES = 1000;

/** `20261116-221500`: sorts by time, in the time of whoever looks at it. */
const stamp = (at: Date): string => {
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = `${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}`;
  return `${day}-${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}`;
};

/** Writes a new file and gives back its path: never over one that is there, never through a link, for us alone to read. */
export const exportFile = (directory: string, extension: string, text: string, at = new Date()): string => {
  for (let n = 0; n < MOST_NAMESAKES; n++) {
    const path = join(directory, `reaptop-${stamp(at)}${n === 0 ? '' : `-${n}`}.${extension}`);
    let fd: number;
    try {
      fd = openOwn(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw error;
    }
    try {
      writeWhole(fd, text);
    } catch (error) {
      rmSync(path, { force: true }); // half a picture is none
      throw error;
    } finally {
      closeSync(fd);
    }
    return path;
  }
  throw new Error(`there are ${MOST_NAMESAKES} files of this second already`);
};
