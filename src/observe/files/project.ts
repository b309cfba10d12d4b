import { existsSync, lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isOurs } from './read-bounded.ts';

/** Where a build and its lock belong to, and where the seeds' files lie. */

const BUILD_FILES = ['lean-toolchain', 'lakefile.lean', 'lakefile.toml'];
const MOST_LEVELS = 32;

const here = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path); // gone since: its name is all that is left
  }
};

const directoriesUp = (from: string): string[] => {
  const found = [from];
  for (let up = dirname(from); up !== found.at(-1) && found.length < MOST_LEVELS; up = dirname(up))
    found.push(up);
  return found;
};

/** The Lean project around a directory; null: there is none. */
export const leanProject = (path: string): string | null =>
  directoriesUp(here(path)).find(directory => BUILD_FILES.some(name => existsSync(join(directory, name)))) ??
  null;

/** The project around a directory: of Lean, of git, or the directory itself. */
export const projectOfDirectory = (path: string): string =>
  leanProject(path) ??
  directoriesUp(here(path)).find(directory => existsSync(join(directory, '.git'))) ??
  here(path);

/** The nearest directory above that has `specs`, no further up than its repository; null: there is none. */
export const specsRoot = (path: string): string | null => {
  for (const directory of directoriesUp(here(path))) {
    if (isDirectory(join(directory, 'specs'))) return directory;
    if (existsSync(join(directory, '.git'))) return null;
  }
  return null;
};

/** A directory, and not a link to one. */
export const isDirectory = (path: string): boolean => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false; // below a file, or a name that no file can have
  }
};

/** More tasks than any project has; archived ones lie elsewhere. */
const MOST_TASKS = 2000;

/** `specs` itself and every directory in it, where the seeds keep markers, guards, locks and progress. */
export const taskDirectories = (root: string): readonly string[] => {
  const specs = join(root, 'specs');
  try {
    const names = readdirSync(specs, { withFileTypes: true })
      .filter(
        entry =>
          entry.isDirectory() &&
          !entry.name.startsWith('.') &&
          entry.name !== 'archive' &&
          entry.name !== 'tmp',
      )
      .slice(0, MOST_TASKS);
    return [specs, ...names.map(({ name }) => join(specs, name))];
  } catch {
    return []; // no specs, or not for us to read
  }
};

/** A file that is regular and ours, looked at without following a link; null for anything else. */
export const ownFileAt = (path: string): Stats | null => {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && isOurs(stat) ? stat : null;
};

/** A directory as its own name, links resolved; null when it is none. */
export const realDirectory = (path: string, from: string): string | null => {
  const real = here(resolve(from, path));
  return statSync(real, { throwIfNoEntry: false })?.isDirectory() === true ? real : null;
};

const MOST_ENTRIES = 500;

/** What a directory looks like: it changes whenever something in it does, leaving out these names. */
export const printOf = (directory: string, except: ReadonlySet<string>): string => {
  const parts: string[] = [];
  const visit = (at: string, depth: number): void => {
    let names: string[];
    try {
      names = readdirSync(at);
    } catch {
      return; // gone, or not for us to read: as it was is as it is
    }
    for (const name of names.sort()) {
      if (parts.length >= MOST_ENTRIES) return;
      const stat = except.has(name) ? undefined : lstatSync(join(at, name), { throwIfNoEntry: false });
      if (stat === undefined) continue;
      parts.push(stat.isDirectory() ? name : `${name}:${stat.size}:${stat.mtimeMs}`);
      if (stat.isDirectory() && depth < 2) visit(join(at, name), depth + 1);
    }
  };
  visit(directory, 0);
  return parts.join('\n');
};
