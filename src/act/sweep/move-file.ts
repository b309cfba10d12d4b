import { randomBytes } from 'node:crypto';
import { linkSync, lstatSync, mkdirSync, renameSync, unlinkSync } from 'node:fs';
import { type HeldDirectory, identityOfInode, Unsafe } from './held-directory.ts';

const MOST_NAMESAKES = 1000;

export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

const NO_SPACE = new Set(['ENOSPC', 'EDQUOT']);
/** No hard links here: FAT, some network mounts, and files of another owner where links to them are restricted. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

const isFile = (path: string, identity: string): boolean => {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && identityOfInode(stat) === identity;
};

const SWAPPED = 'another file took its name at the last moment';

/** Gives a file the name it had; when that is taken again, it keeps the one it has and we say which. */
const putBack = (held: HeldDirectory, aside: string, name: string): never => {
  try {
    linkSync(held.at(aside), held.at(name));
    unlinkSync(held.at(aside));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') renameSync(held.at(aside), held.at(name));
    else throw new Unsafe(`${SWAPPED}; that one is called ${aside} now`);
  }
  throw new Unsafe(SWAPPED);
};

/**
 * Removes one particular file. A name can change hands between a look and an unlink, and nothing unlinks
 * by inode: so the file is first given a name nobody knows, looked at again, and put back if it is another.
 */
export const removeExactly = (held: HeldDirectory, name: string, identity: string): void => {
  const aside = `.${name.slice(0, 200)}.reaptop-${randomBytes(6).toString('hex')}`;
  try {
    renameSync(held.at(name), held.at(aside));
  } catch (error) {
    // A full disk may have no room for another name, and is why somebody sweeps.
    if (!NO_SPACE.has(codeOf(error)) || !isFile(held.at(name), identity)) throw error;
    unlinkSync(held.at(name));
    return;
  }
  if (!isFile(held.at(aside), identity)) putBack(held, aside, name);
  unlinkSync(held.at(aside));
};

/** Moves one particular file under a name that nobody has: link and remove, because rename silently replaces. */
export const moveExactly = (
  from: HeldDirectory,
  name: string,
  identity: string,
  to: HeldDirectory,
  wanted: string,
): string => {
  for (let n = 0; n < MOST_NAMESAKES; n++) {
    const target = n === 0 ? wanted : `${wanted}.${n}`;
    try {
      linkSync(from.at(name), to.at(target));
    } catch (error) {
      if (codeOf(error) === 'EEXIST') continue;
      if (!NO_LINKS.has(codeOf(error))) throw error;
      if (to.stat(target) !== null) continue;
      renameSync(from.at(name), to.at(target));
      if (isFile(to.at(target), identity)) return target;
      renameSync(to.at(target), from.at(name));
      throw new Unsafe(SWAPPED);
    }
    if (!isFile(to.at(target), identity)) {
      unlinkSync(to.at(target)); // only the second name that was just made
      throw new Unsafe(SWAPPED);
    }
    removeExactly(from, name, identity);
    return target;
  }
  throw new Error(`there are ${MOST_NAMESAKES} files of its name in the archive`);
};

/** The directory of that name, made when missing. */
export const makeDirectory = (within: HeldDirectory, name: string): void => {
  try {
    mkdirSync(within.at(name), { mode: 0o755 });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
};
