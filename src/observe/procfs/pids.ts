import { statSync } from 'node:fs';
import { listDirectory, type ReadFailure, readLink, readText } from './read.ts';

/** Listing /proc takes the kernel 1.3 µs a process: 6.5 ms at 5,000, as much as all of our own work in a look. Below this many it does not matter. */
const MANY = 1000;

/** Asking for a pid that is not there takes 2 µs. */
const MOST_QUESTIONS = 256;

/** Whatever we believe, the truth is listed this often. */
const LIST_SECONDS = 10;

/** How many tasks (processes and threads) there are, and the last number that one was given. */
interface Count {
  readonly tasks: number;
  readonly last: number;
}

/** The pids of all processes, listed only when the kernel's own count says that one of them has ended. */
export class PidList {
  readonly #root: string;
  #pids: readonly number[] = [];
  #count: Count | null = null;
  #listedAt = Number.NEGATIVE_INFINITY;
  #countIsOurs: boolean | null = null;

  constructor(root: string) {
    this.#root = root;
  }

  read(clock: number): readonly number[] | ReadFailure {
    // Counted before listing: what is born in between is asked for once more, not missed.
    const count = this.#readCount();
    const pids = this.#follow(count, clock) ?? this.#list(clock);
    if (typeof pids === 'string') return pids;
    this.#count = count;
    this.#pids = pids;
    return pids;
  }

  #list(clock: number): readonly number[] | ReadFailure {
    const names = listDirectory(this.#root);
    if (!Array.isArray(names)) return names;
    this.#listedAt = clock;
    const pids: number[] = [];
    for (const name of names) {
      const first = name.charCodeAt(0);
      if (first >= 0x31 && first <= 0x39) pids.push(Number(name));
    }
    return pids;
  }

  /**
   * The last list and who was born since. Numbers are given in ascending order, so the new ones lie between the two
   * last ones; when as many of them live as there are more tasks now, none has ended. Null: it must be listed.
   */
  #follow(count: Count | null, clock: number): readonly number[] | null {
    const before = this.#count;
    if (count === null || before === null) return null;
    if (this.#pids.length < MANY || clock - this.#listedAt >= LIST_SECONDS) return null;
    const given = count.last - before.last;
    if (given < 0 || given > MOST_QUESTIONS) return null;
    let alive = 0;
    const born: number[] = [];
    for (let id = before.last + 1; id <= count.last; id += 1) {
      if (!exists(`${this.#root}/${id}`)) continue;
      alive += 1;
      if (isProcess(this.#root, id) && !this.#pids.includes(id)) born.push(id);
    }
    if (count.tasks - before.tasks !== alive) return null;
    return born.length === 0 ? this.#pids : [...this.#pids, ...born];
  }

  /** `0.20 0.18 0.12 1/80 11206`; null where that file cannot be believed. */
  #readCount(): Count | null {
    this.#countIsOurs ??= countIsOfThisTable(this.#root);
    if (!this.#countIsOurs) return null;
    const match = /\/(\d+) (\d+)\s*$/.exec(readText(`${this.#root}/loadavg`) ?? '');
    return match === null ? null : { tasks: Number(match[1]), last: Number(match[2]) };
  }
}

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;

/** Threads can be opened by their number as well, though they are not listed. */
const isProcess = (root: string, id: number): boolean =>
  readText(`${root}/${id}/status`)?.includes(`\nTgid:\t${id}\n`) === true;

/** lxcfs mounts a loadavg of its own; `unshare --pid` alone leaves the /proc of another namespace. */
const countIsOfThisTable = (root: string): boolean => {
  const file = statSync(`${root}/loadavg`, { throwIfNoEntry: false });
  return file?.dev === statSync(root).dev && readLink(`${root}/self`) === String(process.pid);
};
