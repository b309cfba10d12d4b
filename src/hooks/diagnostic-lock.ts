import { closeSync, constants, lstatSync, openSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { inDirectory } from '../act/held-directory.ts';
import { ownFileAt, taskDirectories } from '../observe/files/project.ts';
import { isOurs } from '../observe/files/read-bounded.ts';

/** The seeds' lock: an empty file in a task's directory, held while it is younger than half a minute. */
export const DIAGNOSTIC_LOCK = '.diagnostic-lock';
const HELD_MS = 30_000;

/** File systems and clocks differ by a little; one from further ahead would be held until then. */
const AHEAD_MS = 2000;

const isHeldAt = (ageMs: number): boolean => ageMs < HELD_MS && ageMs > -AHEAD_MS;

export interface ForeignLock {
  readonly path: string;
  readonly sinceSeconds: number;
}

/** A fresh lock that another script made in this project; `ours`: paths of those that we made. */
export const foreignLock = (
  roots: readonly string[],
  ours: ReadonlySet<string>,
  now: number,
): ForeignLock | null => {
  for (const root of new Set(roots)) {
    for (const directory of [root, ...taskDirectories(root)]) {
      const path = join(directory, DIAGNOSTIC_LOCK);
      const age = now - (ownFileAt(path)?.mtimeMs ?? Number.NEGATIVE_INFINITY);
      if (isHeldAt(age) && !ours.has(path)) return { path, sinceSeconds: Math.max(0, age / 1000) };
    }
  }
  return null;
};

/**
 * Puts an empty lock there that the seeds' scripts honour; a stale one in its place is taken over. False: there is
 * a fresh one of another program's, or the directory is not ours to write in.
 */
export const makeDiagnosticLock = (root: string, directory: string, now: number): boolean => {
  try {
    return inDirectory(root, directory, held => {
      const path = held.at(DIAGNOSTIC_LOCK);
      const there = lstatSync(path, { throwIfNoEntry: false });
      if (there !== undefined) {
        if (!there.isFile() || !isOurs(there) || isHeldAt(now - there.mtimeMs)) return false;
        rmSync(path);
      }
      closeSync(openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o644));
      return true;
    });
  } catch {
    return false; // made by another in between, or not ours to write in
  }
};

export const touchDiagnosticLock = (path: string, now: Date): void => {
  try {
    if (ownFileAt(path) !== null) utimesSync(path, now, now);
  } catch {
    // removed by a script that thought it stale
  }
};

/** Removes one that we made: it is empty, and ours. */
export const removeDiagnosticLock = (root: string, directory: string): void => {
  try {
    inDirectory(root, directory, held => {
      const there = lstatSync(held.at(DIAGNOSTIC_LOCK), { throwIfNoEntry: false });
      if (there?.isFile() === true && isOurs(there) && there.size === 0) rmSync(held.at(DIAGNOSTIC_LOCK));
    });
  } catch {
    // gone already, with its directory perhaps
  }
};
