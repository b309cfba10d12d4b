import { closeSync } from 'node:fs';
import { forestOf, pushTo } from '../../model/forest.ts';
import type { IdentityKey } from '../../model/identity.ts';
import type { NamedEnv, ProcessFacts } from '../../model/process.ts';
import { Yielder } from '../time-slice.ts';
import type { Closed } from './descriptors.ts';
import type { KernelUnits } from './host.ts';
import { PidList } from './pids.ts';
import { FactReader, hasNoArgv, isHidden, type KnownFacts, unreadable } from './process-facts.ts';
import { BUFFER, openToKeep, type ReadFailure, readKept, readOnceIntoBuffer, readText } from './read.ts';
import { parseStatLine, type Stat } from './stat.ts';

/** Unrelated processes are all re-read within this time; 10 s is promised, 2 s are kept for a late refresh. */
const ROUND_SECONDS = 8;
/** A child has its parent's words until its exec, which a busy machine delays: until then it is read at every sample. */
const YOUNG_SECONDS = 2;

interface Entry extends KnownFacts {
  facts: ProcessFacts;
  /** The line of `stat` behind the facts: 200 bytes that save reading it again, 2 µs each time. */
  readonly line: string;
  /** While the line stays the same, so do the facts. */
  readonly atRest: boolean;
  readAt: number;
  /** From when on it is read whatever the slices say. */
  dueAt: number;
}

/** Of a chain that a process sits at the end of. */
const MOST_ANCESTORS = 64;

/** How the last look went, for the bench and for tests of the slicing. */
export interface ScanCost {
  readonly processes: number;
  readonly reread: number;
}

/**
 * The process table, kept between looks. New pids and followed processes are read every time,
 * the rest in slices. An exec is noticed by comm or by the moved stack, without reading argv again.
 */
export class ProcessTable {
  readonly #root: string;
  readonly #facts: FactReader;
  readonly #pids: PidList;
  readonly #files: StatFiles;
  readonly #entries = new Map<number, Entry>();
  /** By pid alone: a process that took the number over is new, and read anyway. */
  #followed: ReadonlySet<number> = new Set();
  /** Kept for the next look, of which `--once` has none: a copy of the facts of every orphan. */
  #learned: { readonly pid: number; readonly env: NamedEnv }[] = [];
  #lastScan: number | null = null;
  #cursor = 0;
  cost: ScanCost = { processes: 0, reread: 0 };

  constructor(root: string, units: KernelUnits) {
    this.#root = root;
    this.#facts = new FactReader(root, units);
    this.#pids = new PidList(root);
    this.#files = new StatFiles(root);
  }

  follow(related: ReadonlySet<IdentityKey>): void {
    this.#followed = new Set(Array.from(related, key => Number.parseInt(key, 10)));
  }

  /** `whole`: nothing is left to the slices. */
  async scan(clock: number, whole = false): Promise<ProcessFacts[]> {
    const pids = this.#pids.read(clock);
    if (typeof pids === 'string')
      throw new Error(
        `${this.#root} cannot be listed (${pids}): is it mounted? --platform portable works without it.`,
      );
    if (pids.length === 0)
      throw new Error(
        `${this.#root} lists no processes: it is not mounted. --platform portable works without it.`,
      );

    this.#applyLearned();
    const due = this.#dueSlice(pids.length, clock);
    const facts: ProcessFacts[] = [];
    let reread = 0;
    const breath = new Yielder();
    for (let index = 0; index < pids.length; index += 1) {
      const pid = pids[index]!;
      let entry = this.#entries.get(pid);
      // Ended processes shift the positions under the window: what it passed over is overdue.
      const overdue = entry === undefined || clock >= entry.dueAt;
      if (whole || overdue || due(index) || this.#followed.has(pid)) {
        reread += 1;
        this.#read(pid, entry, clock);
        if (reread % 32 === 0) await breath.maybeYield();
        entry = this.#entries.get(pid);
      }
      if (entry !== undefined) facts.push(entry.facts);
    }
    if (this.#entries.size > facts.length) this.#forgetAbsent(new Set(pids));
    this.#lastScan = clock;
    this.cost = { processes: facts.length, reread };
    return facts;
  }

  close(): void {
    this.#files.close();
  }

  /** Environments belong to what was read: on the next looks the facts have them already, until an exec. */
  rememberEnv(pid: number, env: NamedEnv): void {
    this.#learned.push({ pid, env });
  }

  /** Before anything is read again: what was learned is about the processes that are known, not about who follows them. */
  #applyLearned(): void {
    for (const { pid, env } of this.#learned) {
      const entry = this.#entries.get(pid);
      if (entry !== undefined) entry.facts = { ...entry.facts, env };
    }
    this.#learned = [];
  }

  /** Parent and a mark that changes with every exec, for the detail cache. */
  marks(pids: readonly number[]): Map<number, { ppid: number | null; mark: string }> {
    const marks = new Map<number, { ppid: number | null; mark: string }>();
    for (const pid of pids) {
      const entry = this.#entries.get(pid);
      if (entry !== undefined)
        marks.set(pid, { ppid: entry.facts.ppid, mark: `${entry.startStack}:${entry.facts.comm}` });
    }
    return marks;
  }

  /** Everybody above and below a process. */
  kin(): (pid: number) => ReadonlySet<number> {
    return familiesAmong(Array.from(this.#entries.values(), ({ facts }) => facts));
  }

  /** Of a process that may not be looked into: what it is called, and whether this user started it. */
  closedTo(uid: number): (pid: number) => Closed | null {
    const ownUser = (pid: number): boolean => {
      for (let at = this.#entries.get(pid), left = MOST_ANCESTORS; at !== undefined && left > 0; left -= 1) {
        if (at.facts.uid === uid) return true;
        at = this.#entries.get(at.facts.ppid ?? 0);
      }
      return false;
    };
    return pid => {
      const facts = this.#entries.get(pid)?.facts;
      // PID 1 of a whole machine hands no pipes to servers; in a container no closed pipe proves anything.
      if (facts === undefined || pid === 1 || facts.kernelThread || facts.state === 'Z') return null;
      return { comm: facts.comm, ownUser: facts.unreadable || ownUser(pid) };
    };
  }

  /** Browsers' crash handlers, by the name that the kernel cuts at 15 characters. */
  crashHandlers(): readonly number[] {
    const found: number[] = [];
    for (const { facts } of this.#entries.values())
      if (/^(?:chrome_)?crashpad/.test(facts.comm)) found.push(facts.pid);
    return found;
  }

  /** The processes that have a terminal, by its name. */
  byTerminal(): ReadonlyMap<string, readonly number[]> {
    const found = new Map<string, number[]>();
    for (const { facts } of this.#entries.values())
      if (facts.tty !== null) pushTo(found, facts.tty, facts.pid);
    return found;
  }

  /** Which positions of the pid list this look re-reads: a window that goes round once in ROUND_SECONDS. */
  #dueSlice(count: number, clock: number): (index: number) => boolean {
    const elapsed = this.#lastScan === null ? ROUND_SECONDS : clock - this.#lastScan;
    const size = Math.min(count, Math.ceil((count * elapsed) / ROUND_SECONDS));
    const from = this.#cursor % count;
    this.#cursor = (from + size) % count;
    return index => (index - from + count) % count < size;
  }

  #forgetAbsent(present: ReadonlySet<number>): void {
    for (const pid of this.#entries.keys()) if (!present.has(pid)) this.#forget(pid);
  }

  #forget(pid: number): void {
    this.#entries.delete(pid);
    this.#files.forget(pid);
  }

  #read(pid: number, known: Entry | undefined, clock: number): void {
    // Not kept of a process seen for the first time: there may be no second time. So it is with the line below.
    const length = this.#files.read(pid, known !== undefined);
    if (length === 'gone') {
      this.#forget(pid);
      return;
    }
    if (length === 'denied') {
      this.#enter(unreadable(pid), '', null, clock);
      return;
    }
    const line = BUFFER.toString('latin1', 0, length);
    if (known?.atRest && known.line === line) {
      known.readAt = clock;
      known.dueAt = dueAfter(clock, known.facts.born);
      return;
    }
    const stat = parseStatLine(line);
    const same = stat !== null && known?.facts.start === stat.start && !known.facts.unreadable;
    const facts =
      stat === null
        ? unreadable(pid)
        : same
          ? this.#facts.update(known, stat, clock)
          : this.#facts.create(pid, stat);
    if (facts === null) this.#forget(pid);
    else this.#enter(facts, known === undefined ? '' : line, stat, clock);
  }

  #enter(facts: ProcessFacts, line: string, stat: Stat | null, readAt: number): void {
    const { startStack = 0, cpuTicks = 0 } = stat ?? {};
    const atRest = facts.cpu === 0 && (facts.kernelThread || !(isHidden(startStack) || hasNoArgv(facts)));
    const dueAt = dueAfter(readAt, facts.born);
    this.#entries.set(facts.pid, { facts, line, atRest, startStack, cpuTicks, readAt, dueAt });
  }
}

const dueAfter = (readAt: number, born: number | null): number =>
  born !== null && readAt - born < YOUNG_SECONDS ? readAt : readAt + ROUND_SECONDS;

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

/** A process with all above it (PID 1 aside: it adopts, and starts little) and all below it. Many ask of the same tree. */
const familiesAmong = (
  processes: readonly Pick<ProcessFacts, 'pid' | 'ppid'>[],
): ((pid: number) => ReadonlySet<number>) => {
  const forest = forestOf(processes, facts => facts);
  const known = new Map<number, ReadonlySet<number>>();
  const read = (pid: number): ReadonlySet<number> => {
    const found = forest.at(pid);
    if (found === null) return new Set([pid]);
    const above = forest.ancestorsOf(found).filter(up => up.pid > 1);
    return new Set([...forest.subtreeOf(found), ...above].map(member => member.pid));
  };
  return pid => {
    const family = known.get(pid) ?? read(pid);
    known.set(pid, family);
    return family;
  };
};
