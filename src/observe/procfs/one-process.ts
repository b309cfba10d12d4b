import { readlinkSync } from 'node:fs';
import type { Identity } from '../../model/identity.ts';
import type { Presence } from '../system.ts';
import { readKernelUnits, readUptime } from './host.ts';
import {
  BUFFER,
  listDirectory,
  type ReadFailure,
  readIntoBuffer,
  readOnceIntoBuffer,
  readText,
} from './read.ts';
import { parseStat, type Stat } from './stat.ts';

/** Single processes, asked by number: for hooks, which have no time to look at all of them. */

const ROOT = '/proc';

export const statAt = (pid: number): Stat | null => {
  const length = readOnceIntoBuffer(`${ROOT}/${pid}/stat`);
  return typeof length === 'number' ? parseStat(BUFFER, length) : null;
};

export const identityAt = (pid: number): Identity | null => {
  const stat = statAt(pid);
  return stat === null ? null : { pid, start: stat.start };
};

/** Who has this number now, for a signal to what we started ourselves; its memory is not asked for. */
export const presenceAt = (pid: number): Presence => readPresence(ROOT, pid, 0);

/** Null where that is unknown: there is no /proc. */
export const isRunning = (identity: Identity): boolean | null => {
  const stat = statAt(identity.pid);
  if (stat === null) return readUptime(ROOT) === null ? null : false;
  return stat.start === identity.start && stat.state !== 'Z' && stat.state !== 'X';
};

/** RSS and swap; null when it cannot be read. */
export const memoryAt = (pid: number): number | null => {
  const status = readText(`${ROOT}/${pid}/status`);
  if (status === null) return null;
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
  return (field('VmRSS') + field('VmSwap')) * 1024;
};

export const bootId = (): string | null => readText(`${ROOT}/sys/kernel/random/boot_id`)?.trim() ?? null;

/** What our own process numbers belong to; null where the kernel does not say. */
export const pidNamespace = (): string | null => {
  try {
    return readlinkSync(`${ROOT}/self/ns/pid`);
  } catch {
    return null; // no /proc, or a kernel without namespaces
  }
};

/** Seconds since the boot; null where there is no /proc. */
export const uptime = (): number | null => readUptime(ROOT);

/** How long ago a process started. */
export const ageSeconds = ({ start }: Identity): number | null => {
  const now = readUptime(ROOT);
  return now === null ? null : Math.max(0, now - Number(start) / readKernelUnits(ROOT).ticksPerSecond);
};

export interface Kin extends Identity {
  readonly ppid: number;
  readonly state: string;
}

export const kinAt = (pid: number): Kin | null => {
  const stat = statAt(pid);
  return stat === null ? null : { pid, start: stat.start, ppid: stat.ppid, state: stat.state };
};

/** The children of a process, from the kernel's list of each thread; empty where there is no such list. */
export const childrenAt = (pid: number): readonly number[] => {
  const threads = listDirectory(`${ROOT}/${pid}/task`);
  if (!Array.isArray(threads)) return [];
  return threads.flatMap(thread =>
    (readText(`${ROOT}/${pid}/task/${thread}/children`) ?? '').split(' ').map(Number).filter(Boolean),
  );
};

/** Every process with its parent, as it is this moment. */
export const allKin = (): ReadonlyMap<number, Kin> => {
  const names = listDirectory(ROOT);
  const found = new Map<number, Kin>();
  if (!Array.isArray(names)) return found;
  for (const name of names) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const kin = kinAt(pid);
    if (kin !== null) found.set(pid, kin);
  }
  return found;
};

/** What has this pid now, read right before a signal. */
export const readPresence = (root: string, pid: number, pageSize: number): Presence => {
  const owners = readStatus(root, pid);
  // Last: a signal relies on the identity, and on nothing that happened after it was read.
  const length = readOnceIntoBuffer(`${root}/${pid}/stat`);
  if (length === 'gone') return { status: 'gone' };
  if (length === 'denied') return { status: 'unreadable', why: `/proc/${pid}/stat cannot be read` };
  const stat = parseStat(BUFFER, length);
  if (stat === null) return { status: 'unreadable', why: `/proc/${pid}/stat is malformed` };
  const { start, state, ppid, pgid, sid, rssPages } = stat;
  if (owners === 'gone') return { status: 'gone' };
  if (owners === 'denied') return { status: 'unreadable', why: `/proc/${pid}/status cannot be read` };
  return {
    status: 'present',
    identity: { pid, start },
    state,
    ppid,
    pgid,
    sid,
    rss: Math.max(0, rssPages) * pageSize,
    uids: [owners.realUid, owners.effectiveUid],
  };
};

/** What only `/proc/PID/status` has. */
export interface Status {
  readonly realUid: number;
  readonly effectiveUid: number;
  /** Bytes swapped out; null for what has no memory of its own. */
  readonly swap: number | null;
  /** The number it has for itself, where that is another: in a pid namespace of its own. */
  readonly innerPid: number | null;
  /** SIGHUP is ignored, as nohup leaves it; null: unknown. */
  readonly ignoresHangup: boolean | null;
}

/** `Uid:` holds the real, effective, saved and file system user. Its name is escaped by the kernel: no forged lines. */
const UIDS = /^Uid:\s+(\d+)\s+(\d+)/m;
/** One number for each pid namespace, ours first; older kernels have no such line. */
const INNER_PID = /^NSpid:.*\s\d+\s+(\d+)$/m;
/** A bit for each signal, the lowest for SIGHUP. */
const IGNORED = /^SigIgn:\s+[0-9a-f]*([0-9a-f])$/m;
const SWAP = /^VmSwap:\s+(\d+) kB/m;

export const parseStatus = (text: string): Status | null => {
  const uids = UIDS.exec(text);
  if (uids === null) return null;
  const swap = SWAP.exec(text)?.[1];
  const ignored = IGNORED.exec(text)?.[1];
  const inner = INNER_PID.exec(text)?.[1];
  return {
    realUid: Number(uids[1]),
    effectiveUid: Number(uids[2]),
    swap: swap === undefined ? null : Number(swap) * 1024,
    innerPid: inner === undefined ? null : Number(inner),
    ignoresHangup: ignored === undefined ? null : (Number.parseInt(ignored, 16) & 1) === 1,
  };
};

/** About 15 µs a process: for those that matter only. */
export const readStatus = (root: string, pid: number): Status | ReadFailure => {
  const length = readIntoBuffer(`${root}/${pid}/status`);
  if (typeof length !== 'number') return length;
  return parseStatus(BUFFER.toString('latin1', 0, length)) ?? 'denied';
};

/** How often the kernel has killed because memory ran out since boot (Linux 4.13 and later); null when it does not say. */
export const readOomKills = (root = '/proc'): number | null => {
  const match = /^oom_kill (\d+)$/m.exec(readText(`${root}/vmstat`) ?? '');
  return match?.[1] === undefined ? null : Number(match[1]);
};
