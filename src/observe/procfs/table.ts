import { statSync } from 'node:fs';
import type { IdentityKey } from '../../model/identity.ts';
import { keyOf } from '../../model/identity.ts';
import type { ProcessFacts } from '../../model/process.ts';
import { visible } from '../../model/text.ts';
import { readArgv, readExeIfNeeded } from './argv.ts';
import type { KernelUnits } from './host.ts';
import { BUFFER, listDirectory, readOnceIntoBuffer } from './read.ts';
import { KERNEL_THREAD_FLAG, parseStat, type Stat, ttyName } from './stat.ts';

/** Unrelated processes are all re-read within this time; 10 s is promised, 2 s are kept for a late refresh. */
const ROUND_SECONDS = 8;

/** A synchronous scan of 5,000 processes takes about 100 ms: keys would wait. Work this long, then let them in. */
const WORK_SLICE_MS = 12;

/** Milliseconds. `performance` would load a module of 1.3 ms for this. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6;

interface Entry {
  facts: ProcessFacts;
  startStack: number;
  cpuTicks: number;
  readAt: number;
}

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
  readonly #units: KernelUnits;
  readonly #entries = new Map<number, Entry>();
  #followed: ReadonlySet<IdentityKey> = new Set();
  #lastScan: number | null = null;
  #cursor = 0;
  cost: ScanCost = { processes: 0, reread: 0 };

  constructor(root: string, units: KernelUnits) {
    this.#root = root;
    this.#units = units;
  }

  follow(related: ReadonlySet<IdentityKey>): void {
    this.#followed = related;
  }

  async scan(clock: number): Promise<ProcessFacts[]> {
    const names = listDirectory(this.#root);
    if (!Array.isArray(names))
      throw new Error(
        `${this.#root} cannot be listed (${names}): is it mounted? --platform portable works without it.`,
      );
    const pids: number[] = [];
    for (const name of names) {
      const first = name.charCodeAt(0);
      if (first >= 0x31 && first <= 0x39) pids.push(Number(name));
    }
    if (pids.length === 0)
      throw new Error(
        `${this.#root} lists no process: it is not mounted. --platform portable works without it.`,
      );

    const due = this.#dueSlice(pids.length, clock);
    const facts: ProcessFacts[] = [];
    let reread = 0;
    let since = now();
    for (let index = 0; index < pids.length; index += 1) {
      const pid = pids[index]!;
      const known = this.#entries.get(pid);
      if (known === undefined || due(index) || this.#followed.has(keyOf(known.facts))) {
        reread += 1;
        this.#read(pid, known, clock);
        if (reread % 32 === 0 && now() - since > WORK_SLICE_MS) {
          await new Promise(resolve => setImmediate(resolve));
          since = now();
        }
      }
      const entry = this.#entries.get(pid);
      if (entry !== undefined) facts.push(entry.facts);
    }
    if (this.#entries.size > facts.length) this.#forgetAbsent(new Set(pids));
    this.#lastScan = clock;
    this.cost = { processes: facts.length, reread };
    return facts;
  }

  /** Re-reads one process now, whatever the slices say. */
  refresh(pid: number, clock: number): ProcessFacts | null {
    this.#read(pid, this.#entries.get(pid), clock);
    return this.#entries.get(pid)?.facts ?? null;
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

  /** Which positions of the pid list this look re-reads: a window that goes round once in ROUND_SECONDS. */
  #dueSlice(count: number, clock: number): (index: number) => boolean {
    const elapsed = this.#lastScan === null ? ROUND_SECONDS : clock - this.#lastScan;
    const size = Math.min(count, Math.ceil((count * elapsed) / ROUND_SECONDS));
    const from = this.#cursor % count;
    this.#cursor = (from + size) % count;
    return index => (index - from + count) % count < size;
  }

  #forgetAbsent(present: ReadonlySet<number>): void {
    for (const pid of this.#entries.keys()) if (!present.has(pid)) this.#entries.delete(pid);
  }

  #read(pid: number, known: Entry | undefined, clock: number): void {
    const length = readOnceIntoBuffer(`${this.#root}/${pid}/stat`);
    if (length === 'gone') {
      this.#entries.delete(pid);
      return;
    }
    const stat = length === 'denied' ? null : parseStat(BUFFER, length);
    if (stat === null) {
      this.#entries.set(pid, { facts: unreadable(pid), startStack: 0, cpuTicks: 0, readAt: clock });
      return;
    }
    const sameProcess = known !== undefined && known.facts.start === stat.start && !known.facts.unreadable;
    const facts = sameProcess ? this.#update(known, stat, clock) : this.#create(pid, stat);
    this.#entries.set(pid, { facts, startStack: stat.startStack, cpuTicks: stat.cpuTicks, readAt: clock });
  }

  #create(pid: number, stat: Stat): ProcessFacts {
    const { pageSize, ticksPerSecond } = this.#units;
    const comm = visible(stat.comm);
    const kernelThread = (stat.flags & KERNEL_THREAD_FLAG) !== 0;
    const zombie = stat.state === 'Z' || stat.state === 'X';
    const argv = kernelThread || zombie ? null : readArgv(this.#root, pid);
    const uid = this.#uid(pid);
    return {
      pid,
      start: stat.start,
      ppid: stat.ppid,
      pgid: stat.pgid,
      sid: stat.sid,
      uid,
      tty: ttyName(stat.ttyNumber),
      state: stat.state,
      kernelThread,
      unreadable: uid === null,
      born: Number(stat.start) / ticksPerSecond,
      cpuSeconds: stat.cpuTicks / ticksPerSecond,
      cpu: null,
      rss: Math.max(0, stat.rssPages) * pageSize,
      comm,
      argv,
      exe: kernelThread || zombie ? null : readExeIfNeeded(this.#root, pid, comm, argv),
      env: null,
      details: null,
    };
  }

  #update(known: Entry, stat: Stat, clock: number): ProcessFacts {
    const before = known.facts;
    const { pageSize, ticksPerSecond } = this.#units;
    const elapsed = clock - known.readAt;
    const cpuSeconds = stat.cpuTicks / ticksPerSecond;
    const cpu =
      elapsed > 0 ? (100 * (stat.cpuTicks - known.cpuTicks)) / ticksPerSecond / elapsed : before.cpu;
    const zombie = stat.state === 'Z' || stat.state === 'X';
    // exec keeps pid and start time. A stack address of 0 or 1 means the kernel hides it: then look again each time.
    const execed =
      !before.kernelThread &&
      !zombie &&
      (stat.startStack !== known.startStack || stat.startStack <= 1 || visible(stat.comm) !== before.comm);
    const comm = execed || zombie ? visible(stat.comm) : before.comm;
    const argv = zombie ? null : execed ? readArgv(this.#root, before.pid) : before.argv;
    return {
      ...before,
      ppid: stat.ppid,
      pgid: stat.pgid,
      sid: stat.sid,
      tty: ttyName(stat.ttyNumber),
      state: stat.state,
      uid: execed ? this.#uid(before.pid) : before.uid,
      cpuSeconds,
      cpu,
      rss: Math.max(0, stat.rssPages) * pageSize,
      comm,
      argv,
      exe: execed ? readExeIfNeeded(this.#root, before.pid, comm, argv) : before.exe,
    };
  }

  /**
   * The owner of the /proc/PID directory is the effective uid even of a process that is not dumpable,
   * whose files below it all belong to root.
   */
  #uid(pid: number): number | null {
    try {
      return statSync(`${this.#root}/${pid}`).uid;
    } catch {
      return null; // vanished, or hidden: the caller treats it as unreadable
    }
  }
}

const unreadable = (pid: number): ProcessFacts => ({
  pid,
  start: '0',
  ppid: null,
  pgid: null,
  sid: null,
  uid: null,
  tty: null,
  state: '?',
  kernelThread: false,
  unreadable: true,
  born: null,
  cpuSeconds: null,
  cpu: null,
  rss: null,
  comm: '?',
  argv: null,
  exe: null,
  env: null,
  details: null,
});
