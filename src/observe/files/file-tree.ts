import { join, resolve } from 'node:path';
import type { HeartbeatSource } from '../../model/config.ts';
import type { Reading } from '../../model/heartbeat.ts';
import {
  checkFile,
  type Directory,
  identityOfDirectory,
  listNames,
  look,
  newDirectory,
} from './directory.ts';
import { whereBelow, whereRoot } from './where.ts';

/** More directories with known files than anyone has; a root that has more is probably a mistake. */
const MOST_DIRECTORIES = 5000;

/** Every known file below some roots, re-read only when it changed. Synchronous, and cheap when nothing did. */
export class FileTree {
  readonly #sources: readonly HeartbeatSource[];
  #roots = new Map<string, Directory>();
  readonly #byRealPath = new Map<string, Directory>();
  /** The path under which each directory is followed: symbolic links and nested roots lead to the same one. */
  readonly #owners = new Map<string, Directory>();
  #changed = false;
  #crowded: string | null = null;

  constructor(sources: readonly HeartbeatSource[]) {
    this.#sources = sources;
  }

  setRoots(roots: readonly string[]): void {
    // Outer roots first: a file below two of them belongs to the outer one.
    const wanted = [...new Set(roots.map(root => resolve(root)))].sort((a, b) => a.length - b.length);
    const before = this.#roots;
    this.#roots = new Map(
      wanted.map(root => [
        root,
        before.get(root) ?? newDirectory(root, root, whereRoot(root, this.#sources)),
      ]),
    );
    for (const [root, directory] of before) if (!this.#roots.has(root)) this.#leave(directory);
  }

  /** Looks at everything again. True when something is different from before. */
  refresh(): boolean {
    this.#changed = false;
    for (const directory of this.#roots.values()) this.#visit(directory, true);
    return this.#changed;
  }

  /** Looks again at these directories (real paths) and at the roots themselves, but not at what was already known below them. */
  refreshOnly(paths: Iterable<string>): boolean {
    this.#changed = false;
    for (const directory of this.#roots.values()) this.#visit(directory, false);
    for (const path of paths) {
      const directory = this.#byRealPath.get(path);
      if (directory !== undefined) this.#visit(directory, false);
    }
    return this.#changed;
  }

  readings(): Reading[] {
    const readings: Reading[] = [];
    this.#walk(directory => {
      for (const { reading } of directory.files.values()) readings.push(reading);
    });
    return readings.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Real paths of the directories worth watching, with what tells each from a namesake. Roots are left out: they may be huge. */
  watchable(): Map<string, string> {
    const paths = new Map<string, string>();
    this.#walk(directory => {
      if (!this.#roots.has(directory.path) && directory.identity !== '')
        paths.set(directory.real, directory.identity);
    });
    return paths;
  }

  warnings(): string[] {
    if (this.#crowded === null) return [];
    return [
      `${this.#crowded}: more than ${MOST_DIRECTORIES} directories with heartbeats; the rest is not looked at.`,
    ];
  }

  #walk(each: (directory: Directory) => void): void {
    const enter = (directory: Directory): void => {
      each(directory);
      for (const below of directory.directories.values()) enter(below);
    };
    for (const root of this.#roots.values()) enter(root);
  }

  #visit(directory: Directory, deep: boolean): void {
    const stat = look(directory.path);
    const identity = stat?.isDirectory() === true ? identityOfDirectory(stat) : '';
    if (stat === null || identity === '' || this.#isFollowedElsewhere(identity, directory)) {
      this.#leave(directory);
      return;
    }
    if (directory.identity !== identity) this.#owners.delete(directory.identity);
    this.#owners.set(identity, directory);
    listNames(directory, stat);
    this.#byRealPath.set(directory.real, directory);

    const files = new Set<string>();
    const directories = new Set<string>();
    for (const name of directory.names) {
      const child = look(join(directory.path, name));
      if (child?.isDirectory() === true) {
        directories.add(name);
        this.#visitBelow(directory, name, deep);
      } else if (child?.isFile() === true) {
        files.add(name);
        if (checkFile(directory, name, child)) this.#changed = true;
      }
    }
    this.#forget(directory, files, directories);
  }

  #isFollowedElsewhere(identity: string, directory: Directory): boolean {
    const owner = this.#owners.get(identity);
    if (owner === undefined || owner === directory) return false;
    const there = look(owner.path);
    if (there !== null && identityOfDirectory(there) === identity) return true;
    this.#leave(owner); // it was renamed to the path at hand
    return false;
  }

  #visitBelow(directory: Directory, name: string, deep: boolean): void {
    const known = directory.directories.get(name);
    if (known !== undefined) {
      if (deep || known.identity === '') this.#visit(known, deep);
      return;
    }
    const path = join(directory.path, name);
    const where = whereBelow(directory.where, name);
    // A root is looked at as a root: a glob of an outer one must not take it first.
    if (where === null || this.#roots.has(path)) return;
    if (this.#owners.size >= MOST_DIRECTORIES) {
      this.#crowded = directory.root;
      return;
    }
    const below = newDirectory(path, directory.root, where);
    directory.directories.set(name, below);
    this.#visit(below, true);
  }

  #forget(directory: Directory, files: ReadonlySet<string>, directories: ReadonlySet<string>): void {
    for (const name of directory.files.keys())
      if (!files.has(name)) {
        directory.files.delete(name);
        this.#changed = true;
      }
    for (const [name, below] of directory.directories)
      if (!directories.has(name)) {
        this.#leave(below);
        directory.directories.delete(name);
      }
  }

  #leave(directory: Directory): void {
    for (const below of directory.directories.values()) this.#leave(below);
    if (directory.files.size > 0) this.#changed = true;
    if (this.#owners.get(directory.identity) === directory) this.#owners.delete(directory.identity);
    if (this.#byRealPath.get(directory.real) === directory) this.#byRealPath.delete(directory.real);
    directory.directories.clear();
    directory.files.clear();
    directory.identity = '';
    directory.listedAt = 0;
  }
}
