import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isOurs } from '../observe/files/read-bounded.ts';

/** Distinguishes a file or directory from another that took its name. */
export const identityOfInode = ({ dev, ino }: Pick<Stats, 'dev' | 'ino'>): string => `${dev}:${ino}`;

/** Refused, with the reason as a sentence for the user. */
export class Unsafe extends Error {}

const OPEN_DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Linux: a name below an open directory, whatever happens to the directory's own name meanwhile. */
const belowDescriptor = (fd: number, name: string): string => `/proc/self/fd/${fd}/${name}`;

const hasDescriptorPaths = (fd: number, below: typeof belowDescriptor): boolean => {
  const stat = lstatSync(below(fd, '.'), { throwIfNoEntry: false });
  return stat !== undefined && identityOfInode(stat) === identityOfInode(fstatSync(fd));
};

const checkDirectory = (stat: Stats, path: string): void => {
  if (!isOurs(stat)) throw new Unsafe(`${path} belongs to another user`);
  if (othersCanReplace(stat)) throw new Unsafe(`${path} can be written by other users`);
};

const open = (path: string, shown: string): number => {
  try {
    return openSync(path, OPEN_DIRECTORY);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP' || code === 'ENOTDIR')
      throw new Unsafe(`${shown} is a symbolic link or not a directory: it may lead out of the workspace`);
    if (code === 'ENOENT') throw new Unsafe(`${shown} is gone`);
    throw error;
  }
};

/** Everything above the root: a user who can replace a directory there can put another tree in its place. */
const checkAbove = (root: string): void => {
  for (let path = dirname(root); ; path = dirname(path)) {
    checkDirectory(lstatSync(path), path);
    if (path === dirname(path)) return;
  }
};

/**
 * A directory that was reached from its root without following a link, and is kept open: what is done
 * through it is done in that very directory.
 */
export class HeldDirectory {
  readonly #fd: number;
  readonly #path: string;
  readonly identity: string;
  readonly #below: typeof belowDescriptor;
  readonly #descriptorPaths: boolean;

  private constructor(fd: number, path: string, below: typeof belowDescriptor) {
    this.#fd = fd;
    this.#path = path;
    this.identity = identityOfInode(fstatSync(fd));
    this.#below = below;
    this.#descriptorPaths = hasDescriptorPaths(fd, below);
  }

  /** Throws `Unsafe` where a link, another owner or a writable directory is on the way. */
  static open(root: string, directory: string, below = belowDescriptor): HeldDirectory {
    const steps = relative(root, directory).split('/');
    if (steps[0] === '..') throw new Unsafe(`${directory} is not below ${root}`);
    const base = realpathSync(root);
    checkAbove(base);
    let held = HeldDirectory.#enter(base, base, below);
    try {
      for (const step of steps) if (step !== '') held = held.#into(step);
      return held;
    } catch (error) {
      held.close();
      throw error;
    }
  }

  static #enter(path: string, shown: string, below: typeof belowDescriptor): HeldDirectory {
    const fd = open(path, shown);
    try {
      checkDirectory(fstatSync(fd), shown);
      return new HeldDirectory(fd, shown, below);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  #into(name: string): HeldDirectory {
    const inner = HeldDirectory.#enter(this.at(name), join(this.#path, name), this.#below);
    this.close();
    return inner;
  }

  /** A path for one name in here. Without descriptor paths the directory is compared once more, right before. */
  at(name: string): string {
    if (name === '' || name === '..' || name.includes('/')) throw new Unsafe(`${name} is not a file name`);
    if (this.#descriptorPaths) return this.#below(this.#fd, name);
    const now = lstatSync(this.#path, { throwIfNoEntry: false });
    if (now === undefined || identityOfInode(now) !== this.identity)
      throw new Unsafe(`${this.#path} was replaced`);
    return join(this.#path, name);
  }

  stat(name: string): Stats | null {
    return lstatSync(this.at(name), { throwIfNoEntry: false }) ?? null;
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** Holds a directory for as long as `use` takes. */
export const inDirectory = <T>(
  root: string,
  directory: string,
  use: (held: HeldDirectory) => T,
  below = belowDescriptor,
): T => {
  const held = HeldDirectory.open(root, directory, below);
  try {
    return use(held);
  } finally {
    held.close();
  }
};

const own = (): number => process.getuid?.() ?? 0;

/** Lines of a colon-separated account file; null: it cannot be read, so nothing is known of anybody. */
const accounts = (path: string): string[][] | null => {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .map(line => line.split(':'));
  } catch {
    return null;
  }
};

const groups = new Map<string, boolean>();

/** Another user is in this group, or may be: a group that no file here lists is kept elsewhere. */
const hasOtherMembers = (gid: number, etc: string): boolean => {
  const key = `${etc} ${gid}`;
  const known = groups.get(key);
  if (known !== undefined) return known;
  const users = accounts(join(etc, 'passwd'));
  const group = accounts(join(etc, 'group'))?.find(([, , id]) => id === String(gid));
  const trusted = new Set(['0', String(own())]);
  const names = new Set((users ?? []).filter(([, , uid]) => trusted.has(uid ?? '')).map(([name]) => name));
  const strangers =
    users === null ||
    // macOS and directory services keep users elsewhere: then these files do not tell who is in a group.
    !users.some(([, , uid]) => uid === String(own())) ||
    group === undefined ||
    (group[3] ?? '').split(',').some(name => name !== '' && !names.has(name)) ||
    users.some(([, , uid, primary]) => primary === String(gid) && !trusted.has(uid ?? ''));
  groups.set(key, strangers);
  return strangers;
};

/**
 * Another user can replace what lies in this directory. In a sticky one (`/tmp`) no other user can rename or
 * remove what is ours, and what is not ours is refused by its owner.
 */
export const othersCanReplace = ({ mode, gid }: Pick<Stats, 'mode' | 'gid'>, etc = '/etc'): boolean => {
  if ((mode & 0o1000) !== 0) return false;
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && hasOtherMembers(gid, etc));
};
