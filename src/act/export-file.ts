import { join } from 'node:path';
import { writeUnderFreeName } from '../observe/state/own-file.ts';

const MOST_NAMESAKES = 1000;

/** `20261116-221500`: sorts by time, in local time. */
const stamp = (at: Date): string => {
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = `${at.getFullYear()}${two(at.getMonth() + 1)}${two(at.getDate())}`;
  return `${day}-${two(at.getHours())}${two(at.getMinutes())}${two(at.getSeconds())}`;
};

/** Writes a new file and gives back its path. */
export const exportFile = (directory: string, extension: string, text: string, at = new Date()): string => {
  const names = Array.from({ length: MOST_NAMESAKES }, (_, n) =>
    join(directory, `reaptop-${stamp(at)}${n === 0 ? '' : `-${n}`}.${extension}`),
  );
  const path = writeUnderFreeName(names, text);
  if (path === null) throw new Error(`there are ${MOST_NAMESAKES} files of this second already`);
  return path;
};
