import { closeSync } from 'node:fs';
import { openToKeep, type ReadFailure, readKept, readOnceIntoBuffer, readText } from './read.ts';

/** Each holds 4.3 KB of the kernel's memory (measured: 22 MB for 5,065): 18 MB at the most. */
const MOST = 4096;

/** The rest of the program wants files too: these are left to it, and half of what is beyond. */
const RESERVE = 256;
const SHARE = 0.5;

/** Where it is not said: what most systems begin with. */
const USUAL_LIMIT = 1024;

/**
 * `/proc/PID/stat` of processes that are read again and again, kept open: to open and close it takes the kernel as long
 * as to read it (13 µs together, 6 from an open file), and that is most of what a refresh costs.
 *
 * An open file belongs to its process and not to the number: once that process has ended it cannot be read, whoever has
 * the number now.
 */
export class StatFiles {
  readonly #root: string;
  readonly #kept = new Map<number, number>();
  #most: number | null = null;

  constructor(root: string) {
    this.#root = root;
  }

  /** Into BUFFER. `keep`: it will be read again. */
  read(pid: number, keep: boolean): number | ReadFailure {
    const kept = this.#kept.get(pid);
    if (kept !== undefined) {
      const length = readKept(kept);
      if (length !== null) return length;
      this.forget(pid);
    }
    return (keep ? this.#open(pid) : null) ?? readOnceIntoBuffer(this.#path(pid));
  }

  /** Null where it is read by its path, once more, to know why. */
  #open(pid: number): number | null {
    this.#most ??= Math.min(MOST, Math.floor(SHARE * (limitOf(this.#root) - RESERVE)));
    if (this.#kept.size >= this.#most) return null;
    const fd = openToKeep(this.#path(pid));
    if (fd === null) return null;
    this.#kept.set(pid, fd);
    const length = readKept(fd);
    if (length === null) this.forget(pid);
    return length;
  }

  #path(pid: number): string {
    return `${this.#root}/${pid}/stat`;
  }

  forget(pid: number): void {
    const fd = this.#kept.get(pid);
    if (fd === undefined) return;
    this.#kept.delete(pid);
    closeSync(fd);
  }

  close(): void {
    for (const pid of [...this.#kept.keys()]) this.forget(pid);
  }
}

/** How many files this process may have open. `Max open files            1024                 524288               files` */
const limitOf = (root: string): number =>
  Number(/^Max open files\s+(\d+)/m.exec(readText(`${root}/self/limits`) ?? '')?.[1] ?? USUAL_LIMIT);
