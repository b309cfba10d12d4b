import { lstatSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { visible } from '../model/text.ts';
import { errorSentence, readOwnTail, replaceOwn } from '../observe/state/own-file.ts';
import { makeStateDirectory } from '../observe/state/state-directory.ts';

const HELD_FILE = 'held.json';
const MOST_BYTES = 4096;

export interface Held {
  /** Epoch milliseconds. */
  readonly since: number;
  readonly why: string;
}

/** Written down so that a guard that is started anew still waits. A warning comes back when it cannot be. */
export const writeHeld = (directory: string, held: Held): string | null => {
  try {
    makeStateDirectory(directory);
    replaceOwn(join(directory, HELD_FILE), `${JSON.stringify(held)}\n`, { durable: true });
    return null;
  } catch (error) {
    return `it could not be written down that guard is held: ${errorSentence(error)}`;
  }
};

/** The file itself means held; what it says is only why. */
export const readHeld = (directory: string | null): Held | null => {
  if (directory === null) return null;
  const path = join(directory, HELD_FILE);
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
    const { since, why } = JSON.parse(readOwnTail(path, MOST_BYTES) ?? '') as Partial<Held>;
    return { since: typeof since === 'number' ? since : 0, why: visible(String(why)) };
  } catch (error) {
    // A file in the directory's place holds nothing; anything else that cannot be read may.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return null;
    return { since: 0, why: `${path} says so, and cannot be read` };
  }
};

/** A person removed the file. That the whole directory is gone says nothing. */
export const isAllowed = (directory: string | null): boolean => {
  try {
    return directory !== null && statSync(directory).isDirectory() && readHeld(directory) === null;
  } catch {
    return false;
  }
};

/** `guard allow`: false when nothing was held. */
export const allow = (directory: string): boolean => {
  const held = readHeld(directory) !== null;
  rmSync(join(directory, HELD_FILE), { force: true });
  return held;
};
