import { statSync } from 'node:fs';
import type { IdentityKey } from '../../model/identity.ts';
import { type NamedEnv, type ProcessFacts, sameArgv } from '../../model/process.ts';
import { visible } from '../../model/text.ts';
import { readArgv, readExeIfNeeded } from './argv.ts';
import type { KernelUnits } from './host.ts';
import { PidList } from './pids.ts';
import { BUFFER, readOnceIntoBuffer } from './read.ts';
import { KERNEL_THREAD_FLAG, parseStat, type Stat, ttyName } from './stat.ts';

/** Unrelated processes are all re-read within this time; 10 s is promised, 2 s are kept for a late refresh. */
const ROUND_SECONDS = 8;

/** A synchronous scan of 5,000 processes takes about 100 ms: keys would wait. Work this long, then let them in. */
const WORK_SLICE_MS = 12;

/** Milliseconds. `performance` would load a module of 1.3 ms for this. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6;

interface Entry {
  facts: ProcessFacts;
  /** The line of `stat` behind the facts: 200 bytes that save reading it again, 2 µs each time. */
  readonly line: string;
  /** While the line stays the same, so do the facts. */
  readonly atRest: boolean;
  readonly startStack: number;
  readonly cpuTicks: number;
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
  readonly #pids: PidList;
  readonly #entries = new Map<number, Entry>();
  /** By pid alone: whoever took the number over is new, and read anyway. */
  #followed: ReadonlySet<number> = new Set();
  #lastScan: number | null = null;
  #cursor = 0;
  cost: ScanCost = { processes: 0, reread: 0 };

  constructor(root: string, units: KernelUnits) {
    this.#root = root;
    this.#units = units;
    this.#pids = new PidList(root);
  }

  follow(related: ReadonlySet<IdentityKey>): void {
    this.#followed = new Set(Array.from(related, key => Number.parseInt(key, 10)));
  }

  async scan(clock: number): Promise<ProcessFacts[]> {
    const pids = this.#pids.read(clock);
    if (typeof pids === 'string')
      throw new Error(
        `${this.#root} cannot be listed (${pids}): is it mounted? --platform portable works without it.`,
      );
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
      // Ended processes shift the positions under the window: whoever it passed over is overdue.
      const overdue = known === undefined || clock - known.readAt >= ROUND_SECONDS;
      if (overdue || due(index) || this.#followed.has(pid)) {
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

  /** Environments belong to what was read: on the next looks the facts have them already, until an exec. */
  rememberEnv(pid: number, env: NamedEnv): void {
    const entry = this.#entries.get(pid);
    if (entry !== undefined) entry.facts = { ...entry.facts, env };
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
    if (length === 'denied') {
      this.#enter(unreadable(pid), '', null, clock);
      return;
    }
    // Not of a process seen for the first time: there may be no second time.
    const line = known === undefined ? '' : BUFFER.toString('latin1', 0, length);
    if (known?.line === line && known.atRest) {
      known.readAt = clock;
      return;
    }
    const stat = parseStat(BUFFER, length);
    const same = stat !== null && known?.facts.start === stat.start && !known.facts.unreadable;
    const facts =
      stat === null ? unreadable(pid) : same ? this.#update(known, stat, clock) : this.#create(pid, stat);
    if (facts === null) this.#entries.delete(pid);
    else this.#enter(facts, line, stat, clock);
  }

  #enter(facts: ProcessFacts, line: string, stat: Stat | null, readAt: number): void {
    const { startStack = 0, cpuTicks = 0 } = stat ?? {};
    const atRest = facts.cpu === 0 && (facts.kernelThread || !isHidden(startStack));
    this.#entries.set(facts.pid, { facts, line, atRest, startStack, cpuTicks, readAt });
  }

  /** Null when it vanished while it was read. */
  #create(pid: number, stat: Stat): ProcessFacts | null {
    const { pageSize, ticksPerSecond } = this.#units;
    const comm = visible(stat.comm);
    const kernelThread = (stat.flags & KERNEL_THREAD_FLAG) !== 0;
    const zombie = stat.state === 'Z' || stat.state === 'X';
    const argv = kernelThread || zombie ? null : readArgv(this.#root, pid);
    const uid = this.#uid(pid);
    if (uid === undefined) return null;
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

  /** The same object again when nothing changed: most processes sleep, and what hangs on them may then be kept. */
  #update(known: Entry, stat: Stat, clock: number): ProcessFacts {
    const before = known.facts;
    const { pageSize, ticksPerSecond } = this.#units;
    const elapsed = clock - known.readAt;
    const cpu =
      elapsed > 0 ? (100 * (stat.cpuTicks - known.cpuTicks)) / ticksPerSecond / elapsed : before.cpu;
    const { ppid, pgid, sid, state } = stat;
    const rss = Math.max(0, stat.rssPages) * pageSize;
    const tty = ttyName(stat.ttyNumber);
    const words = this.#wordsNow(known, stat);
    if (
      words === before &&
      state === before.state &&
      rss === before.rss &&
      cpu === before.cpu &&
      stat.cpuTicks === known.cpuTicks &&
      tty === before.tty &&
      ppid === before.ppid &&
      pgid === before.pgid &&
      sid === before.sid
    )
      return before;
    const { uid, comm, argv, exe, env } = words;
    return {
      ...before,
      ppid,
      pgid,
      sid,
      tty,
      state,
      uid,
      unreadable: uid === null,
      cpuSeconds: stat.cpuTicks / ticksPerSecond,
      cpu,
      rss,
      comm,
      argv,
      exe,
      env,
    };
  }

  /** What a process says about itself; `known.facts` itself while that is the same. exec keeps pid and start time. */
  #wordsNow(known: Entry, stat: Stat): Pick<ProcessFacts, 'uid' | 'comm' | 'argv' | 'exe' | 'env'> {
    const before = known.facts;
    if (before.kernelThread) return before;
    const comm = visible(stat.comm);
    if (stat.state === 'Z' || stat.state === 'X')
      return before.argv === null ? before : { ...before, comm, argv: null };
    // Where the kernel hides the stack, the words themselves must tell.
    const hidden = isHidden(stat.startStack);
    if (comm === before.comm && stat.startStack === known.startStack && !hidden) return before;
    const argv = readArgv(this.#root, before.pid);
    if (hidden && comm === before.comm && sameArgv(argv, before.argv)) return before;
    return {
      uid: this.#uid(before.pid) ?? null,
      comm,
      env: null,
      // A copy: whoever remembers something by argv must notice the exec, even into the same words.
      argv: argv === null ? null : [...argv],
      exe: readExeIfNeeded(this.#root, before.pid, comm, argv),
    };
  }

  /**
   * The owner of the /proc/PID directory is the effective uid even of a process that is not dumpable,
   * whose files below it all belong to root. Undefined when the process has vanished, null when we may not know.
   */
  #uid(pid: number): number | null | undefined {
    try {
      return statSync(`${this.#root}/${pid}`, { throwIfNoEntry: false })?.uid;
    } catch {
      return null; // hidden: the caller treats it as unreadable
    }
  }
}

/** The kernel tells 0 or 1 instead of an address to whoever may not trace the process. */
const isHidden = (startStack: number): boolean => startStack <= 1;

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
