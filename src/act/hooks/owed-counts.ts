import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readOwnTail, replaceOwn } from '../../observe/state/own-file.ts';
import { makeStateDirectory } from '../../observe/state/state-directory.ts';

/**
 * Counts of hooks that could not wait any longer for their session's file. Each leaves one small file of its own, for
 * which nobody has to wait, and whoever has the session's file next counts them: a machine that is drowning makes a
 * count late, never wrong.
 */
const directoryOf = (sessionFile: string): string => `${sessionFile}.owed`;

/** A turn of a subagent ('' is the session itself), or a call of a build tool that was let through. */
export type Owed = { readonly what: 'turn'; readonly who: string } | { readonly what: 'call' };

const MOST_BYTES = 1024;
/** More at once would hold up the one who counts; the rest is left to the next. */
const MOST_AT_ONCE = 1000;
const ENDING = '.json';

/** Throws what the file system says. */
export const owe = (sessionFile: string, owed: Owed): void => {
  const directory = directoryOf(sessionFile);
  makeStateDirectory(directory);
  const name = `${process.pid}-${process.hrtime.bigint()}${ENDING}`;
  replaceOwn(join(directory, name), JSON.stringify(owed));
};

export interface OwedCounts {
  readonly counts: readonly Owed[];
  /** To be called when they have been counted. A crash before that counts them once more. */
  settle(): void;
}

const parsed = (path: string): readonly Owed[] => {
  try {
    const { what, who } = JSON.parse(readOwnTail(path, MOST_BYTES) ?? '') as Record<string, unknown>;
    if (what === 'turn' && typeof who === 'string') return [{ what, who }];
    return what === 'call' ? [{ what }] : [];
  } catch {
    return []; // not ours, or cut off by a full disk
  }
};

export const owedCounts = (sessionFile: string): OwedCounts => {
  const directory = directoryOf(sessionFile);
  let names: string[];
  try {
    names = readdirSync(directory).filter(name => name.endsWith(ENDING));
  } catch {
    return { counts: [], settle: () => {} }; // nobody ever had to leave one
  }
  const paths = names.slice(0, MOST_AT_ONCE).map(name => join(directory, name));
  return {
    counts: paths.flatMap(parsed),
    settle: () => {
      for (const path of paths) rmSync(path, { force: true });
    },
  };
};

export const forgetOwed = (sessionFile: string): void =>
  rmSync(directoryOf(sessionFile), { recursive: true, force: true });
