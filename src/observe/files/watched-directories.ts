import { join, resolve } from 'node:path';
import type { HeartbeatSource } from '../../model/config.ts';
import type { Reading } from '../../model/heartbeat.ts';
import { visible } from '../../model/text.ts';
import {
  allBelow,
  checkFile,
  type Directory,
  forgetContents,
  identityOfDirectory,
  listNames,
  look,
  lookAtEntry,
  newDirectory,
  realPathOf,
  type Work,
} from './directory.ts';
import { whereBelow, whereRoot } from './directory-rules.ts';

/** More than anyone has; a root that has more is probably a mistake. */
const MOST_DIRECTORIES = 20_000;
const MOST_FILES = 30_000;

/** Counts what is followed, refuses what is too much, and says so once. */
class WatchLimits {
  files = 0;
  #refused: string | null = null;

  hasRoomForDirectory(known: number, root: string): boolean {
    return known < MOST_DIRECTORIES || this.refuse(root);
  }

  hasRoomForFile(root: string): boolean {
    return this.files < MOST_FILES || this.refuse(root);
  }

  /** Something in there is left out. */
  refuse(place: string): false {
    this.#refused ??= place;
    return false;
  }

  warnings(): string[] {
    if (this.#refused === null) return [];
    return [
      `${visible(this.#refused)}: too many directories or files with heartbeats; the rest is not read.`,
    ];
  }
}

/** Asked between two steps of long work: is there time for one more? */
export type TimeBudget = () => boolean;

/** Looking at the clock costs more than most steps. */
const STEPS_PER_LOOK = 16;

const wallMs = (): number => Number(process.hrtime.bigint()) / 1e6;

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/**
 * Patience for so many milliseconds. Our own work is what a repository can make long; waiting for a busy
 * machine or a cold disk is forgiven for longer.
 */
export const timeBudget = (limit: { readonly cpu: number; readonly wall: number }): TimeBudget => {
  const began = wallMs();
  const working = cpuMs() + limit.cpu;
  let steps = 0;
  let left = true;
  return () => {
    if (!left || ++steps % STEPS_PER_LOOK !== 0) return left;
    const passed = wallMs() - began;
    // Nobody works for longer than time has passed: the dearer clock is asked only then.
    if (passed >= limit.cpu) left = passed < limit.wall && cpuMs() < working;
    return left;
  };
};

/**
 * Every known file below some roots, re-read only when it changed. Looking is work that can be put down
 * and taken up again: a project may hold thousands of directories, and a screen does not wait.
 */
export class FileTree {
  readonly #sources: readonly HeartbeatSource[];
  #roots = new Map<string, Directory>();
  readonly #byRealPath = new Map<string, Directory>();
  /** The path under which each directory is followed: symbolic links and nested roots lead to the same one. */
  readonly #owners = new Map<string, Directory>();
  #work: Work | null = null;
  #changed = false;
  /** As long as they hold: with thousands of files making them anew at every look is most of the work. */
  #readings: readonly Reading[] | null = null;
  #watchable: ReadonlyMap<string, string> | null = null;
  readonly #crowding = new WatchLimits();

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
    this.#work = null;
    this.#readings = null;
    this.#watchable = null;
    for (const [root, directory] of before) if (!this.#roots.has(root)) this.#leave(directory);
  }

  /** There is something left to look at. */
  get unfinished(): boolean {
    return this.#work !== null;
  }

  /** Looks at everything again, as far as patience goes. True when something is different from before. */
  refresh(patience: TimeBudget): boolean {
    this.#work = this.#lookAtAll();
    return this.goOn(patience);
  }

  /** Looks again at these directories (real paths) and at the roots themselves, but not at what was already known below them. */
  refreshOnly(paths: Iterable<string>, patience: TimeBudget): boolean {
    this.#work = this.#lookAtSome([...paths]);
    return this.goOn(patience);
  }

  /** Takes up what was put down. */
  goOn(patience: TimeBudget): boolean {
    this.#changed = false;
    while (this.#work !== null && patience()) if (this.#work.next().done === true) this.#work = null;
    return this.#changed;
  }

  readings(): readonly Reading[] {
    this.#readings ??= this.#allReadings();
    return this.#readings;
  }

  #allReadings(): Reading[] {
    const readings: Reading[] = [];
    for (const { files } of allBelow(this.#roots.values()))
      for (const { reading } of files.values()) readings.push(reading);
    return readings.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Real paths of the directories worth watching, with what tells each from a namesake. Roots are left out: they may be huge. */
  watchable(): ReadonlyMap<string, string> {
    this.#watchable ??= this.#allWatchable();
    return this.#watchable;
  }

  #allWatchable(): Map<string, string> {
    const paths = new Map<string, string>();
    for (const directory of allBelow(this.#roots.values())) {
      if (directory.identity === '') continue;
      const real = realPathOf(directory);
      this.#byRealPath.set(real, directory);
      if (!this.#roots.has(directory.path)) paths.set(real, directory.identity);
    }
    return paths;
  }

  /** What was left out: one sentence, however much it is. */
  warnings(): string[] {
    return this.#crowding.warnings();
  }

  *#lookAtAll(): Work {
    for (const directory of this.#roots.values()) yield* this.#visit(directory, true);
  }

  *#lookAtSome(paths: readonly string[]): Work {
    for (const directory of this.#roots.values()) yield* this.#visit(directory, false);
    for (const path of paths) {
      const directory = this.#byRealPath.get(path);
      if (directory !== undefined) yield* this.#visit(directory, false);
    }
  }

  *#visit(directory: Directory, deep: boolean, stat = look(directory.path)): Work {
    const identity = stat?.isDirectory() === true ? identityOfDirectory(stat) : '';
    if (stat === null || identity === '' || this.#isFollowedElsewhere(identity, directory)) {
      this.#leave(directory);
      return;
    }
    if (directory.identity !== identity) {
      this.#owners.delete(directory.identity);
      this.#watchable = null;
    }
    this.#owners.set(identity, directory);
    if (!(yield* listNames(directory, stat))) this.#crowding.refuse(directory.path);

    const files = new Set<string>();
    const directories = new Set<string>();
    // `join` costs as much as the look itself.
    const place = directory.path === '/' ? '/' : `${directory.path}/`;
    for (const name of directory.names) {
      yield;
      const child = lookAtEntry(place + name, directory.root);
      if (child?.isDirectory() === true) {
        directories.add(name);
        const known = directory.directories.get(name) ?? this.#enter(directory, name);
        const unseen = known?.identity === '';
        if (known !== null && (deep || unseen)) yield* this.#visit(known, deep || unseen, child);
      } else if (
        child?.isFile() === true &&
        (directory.files.has(name) || this.#crowding.hasRoomForFile(directory.root))
      ) {
        files.add(name);
        this.#check(directory, name, child);
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

  /** A directory not seen before; null when nothing known can be in it. */
  #enter(directory: Directory, name: string): Directory | null {
    const path = join(directory.path, name);
    const where = whereBelow(directory.where, name);
    // A root is looked at as a root: a glob of an outer one must not take it first.
    if (where === null || this.#roots.has(path)) return null;
    if (!this.#crowding.hasRoomForDirectory(this.#owners.size, directory.root)) return null;
    const below = newDirectory(path, directory.root, where);
    directory.directories.set(name, below);
    return below;
  }

  #check(directory: Directory, name: string, stat: Parameters<typeof checkFile>[2]): void {
    const before = directory.files.size;
    const known = directory.files.get(name)?.reading;
    if (checkFile(directory, name, stat)) this.#changed = true;
    if (directory.files.get(name)?.reading !== known) this.#readings = null;
    this.#crowding.files += directory.files.size - before;
  }

  #forget(directory: Directory, files: ReadonlySet<string>, directories: ReadonlySet<string>): void {
    for (const name of directory.files.keys())
      if (!files.has(name)) {
        directory.files.delete(name);
        this.#crowding.files -= 1;
        this.#changed = true;
        this.#readings = null;
      }
    for (const [name, below] of directory.directories)
      if (!directories.has(name)) {
        this.#leave(below);
        directory.directories.delete(name);
      }
  }

  #leave(directory: Directory): void {
    for (const below of directory.directories.values()) this.#leave(below);
    if (directory.identity !== '') this.#watchable = null;
    if (directory.files.size > 0) {
      this.#changed = true;
      this.#readings = null;
    }
    if (this.#owners.get(directory.identity) === directory) this.#owners.delete(directory.identity);
    if (directory.real !== null && this.#byRealPath.get(directory.real) === directory)
      this.#byRealPath.delete(directory.real);
    this.#crowding.files -= directory.files.size;
    forgetContents(directory);
  }
}

export interface FileScan {
  readonly readings: readonly Reading[];
  readonly warnings: readonly string[];
}

/** A snapshot is to be there within two seconds whatever a repository contains; judging what was read takes as long again. */
const ONE_LOOK = { cpu: 1300, wall: 8000 };

/** One look at every known file below the roots, for `--once`: no watcher, only the directories that can hold one. */
export const scanFiles = (roots: readonly string[], sources: readonly HeartbeatSource[]): FileScan => {
  const tree = new FileTree(sources);
  tree.setRoots(roots);
  tree.refresh(timeBudget(ONE_LOOK));
  const cut = tree.unfinished
    ? [`${roots.map(visible).join(', ')}: too many files to read at once; some heartbeats are left out.`]
    : [];
  return { readings: tree.readings(), warnings: [...tree.warnings(), ...cut] };
};
