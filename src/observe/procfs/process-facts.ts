import { statSync } from 'node:fs';
import { FAMILIES } from '../../agents/families.ts';
import { type ProcessFacts, sameArgv } from '../../model/process.ts';
import { safeArgv } from '../../model/redact.ts';
import { visible } from '../../model/text.ts';
import type { KernelUnits } from './host.ts';
import { BUFFER, readLink, readOnceIntoBuffer } from './read.ts';
import { KERNEL_THREAD_FLAG, type Stat, ttyName, UNKNOWN_STATE } from './stat.ts';

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
    if (stat.state === UNKNOWN_STATE) return before;
    // Where the kernel hides the stack, or an exec was half done, the words themselves must tell.
    const untold = isHidden(stat.startStack) || hasNoArgv(before);
    if (comm === before.comm && stat.startStack === known.startStack && !untold) return before;
    const argv = readArgv(this.#root, before.pid);
    if (untold && comm === before.comm && sameArgv(argv, before.argv)) return before;
    const uid = this.#uid(before.pid);
    if (uid === undefined) return null;
    return {
      uid,
      comm,
      env: null,
      // A copy: a cache keyed by argv must notice the exec, even into the same words.
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
export const hasNoArgv = ({ argv }: Pick<ProcessFacts, 'argv'>): boolean =>
  argv !== null && argv.length === 0;

/** The kernel shows 0 or 1 instead of an address to users who may not trace the process. */
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

/** Said at the end of an argv that was longer than we read. */
const CUT_MARK = '…[cut]';

/** `process.title` leaves a run of NULs behind the new text: they are padding, not empty arguments. */
const withoutPadding = (length: number): number => {
  let end = length;
  while (end > 0 && BUFFER[end - 1] === 0) end -= 1;
  return end;
};

// Worker pools and daemons come in rows of equal command lines: the last one is kept for its neighbours,
// which saves a fifth of a first look at 5,000 processes. One only, because it is not redacted.
let lastText = '';
let lastArgv: readonly string[] = [];

/** Sanitised, redacted argv; null when it cannot be read (or the process has no memory any more). */
export const readArgv = (root: string, pid: number): readonly string[] | null => {
  const length = readOnceIntoBuffer(`${root}/${pid}/cmdline`);
  if (typeof length !== 'number') return null;
  const end = withoutPadding(length);
  if (end === 0) return [];
  const text = BUFFER.toString('utf8', 0, end);
  if (text !== lastText) {
    const argv = safeArgv(text.split('\0'));
    lastArgv = length === BUFFER.length ? [...argv, CUT_MARK] : argv;
    lastText = text;
  }
  return lastArgv;
};

/** The kernel's own word for a name: 15 bytes. */
const COMM_BYTES = 15;

/** Names that others have as well: where such a program lies decides. */
const SHARED_NAMES: ReadonlySet<string> = new Set(
  FAMILIES.flatMap(({ home, programs }) => (home === undefined ? [] : (programs ?? []))),
);

/**
 * The executable is worth a readlink only when argv[0] and comm disagree about the name (a versioned binary, a renamed
 * process, a script), or the name alone does not tell. Elsewhere it would say the same again.
 */
export const readExeIfNeeded = (
  root: string,
  pid: number,
  comm: string,
  argv: readonly string[] | null,
): string | null => {
  const first = argv?.[0];
  if (first !== undefined) {
    const base = first.slice(first.lastIndexOf('/') + 1);
    if ((base === comm || base.slice(0, COMM_BYTES) === comm) && !SHARED_NAMES.has(base)) return null;
  }
  const exe = readLink(`${root}/${pid}/exe`);
  return exe === null ? null : visible(exe);
};
