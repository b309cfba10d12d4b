import { statSync } from 'node:fs';
import { type ProcessFacts, sameArgv } from '../../model/process.ts';
import { visible } from '../../model/text.ts';
import { readArgv, readExeIfNeeded } from './argv.ts';
import type { KernelUnits } from './host.ts';
import { KERNEL_THREAD_FLAG, type Stat, ttyName, UNTOLD_STATE } from './stat.ts';

/** The facts of a process and what of its stat line they were made from. */
export interface KnownFacts {
  readonly facts: ProcessFacts;
  readonly startStack: number;
  readonly cpuTicks: number;
  readonly readAt: number;
}

type Words = Pick<ProcessFacts, 'uid' | 'comm' | 'argv' | 'exe' | 'env'>;

/** From a stat line, and whatever else it makes necessary to read, to facts. */
export class FactReader {
  readonly #root: string;
  readonly #units: KernelUnits;

  constructor(root: string, units: KernelUnits) {
    this.#root = root;
    this.#units = units;
  }

  /** Null when it vanished while it was read. */
  create(pid: number, stat: Stat): ProcessFacts | null {
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

  /**
   * The same object again when nothing changed: most processes sleep, and what hangs on them may then be kept. Null
   * when it vanished while it was read.
   */
  update(known: KnownFacts, stat: Stat, clock: number): ProcessFacts | null {
    const before = known.facts;
    const { pageSize, ticksPerSecond } = this.#units;
    const elapsed = clock - known.readAt;
    const cpu =
      elapsed > 0 ? (100 * (stat.cpuTicks - known.cpuTicks)) / ticksPerSecond / elapsed : before.cpu;
    const { ppid, pgid, sid, state } = stat;
    const rss = Math.max(0, stat.rssPages) * pageSize;
    const tty = ttyName(stat.ttyNumber);
    const words = this.#wordsNow(known, stat);
    if (words === null) return null;
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
  #wordsNow(known: KnownFacts, stat: Stat): Words | null {
    const before = known.facts;
    if (before.kernelThread) return before;
    const comm = visible(stat.comm);
    if (stat.state === 'Z' || stat.state === 'X')
      return before.argv === null ? before : { ...before, comm, argv: null };
    // Its words went with its first thread: what it said before still stands.
    if (stat.state === UNTOLD_STATE) return before;
    // Where the kernel hides the stack, or an exec was half done, the words themselves must tell.
    const untold = isHidden(stat.startStack) || isWordless(before);
    if (comm === before.comm && stat.startStack === known.startStack && !untold) return before;
    const argv = readArgv(this.#root, before.pid);
    if (untold && comm === before.comm && sameArgv(argv, before.argv)) return before;
    const uid = this.#uid(before.pid);
    if (uid === undefined) return null;
    return {
      uid,
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

/** Between an exec's new name and its new words there are none (seen once in a thousand reads). */
export const isWordless = ({ argv }: Pick<ProcessFacts, 'argv'>): boolean =>
  argv !== null && argv.length === 0;

/** The kernel tells 0 or 1 instead of an address to whoever may not trace the process. */
export const isHidden = (startStack: number): boolean => startStack <= 1;

export const unreadable = (pid: number): ProcessFacts => ({
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
