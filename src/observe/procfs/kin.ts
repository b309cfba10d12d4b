import { readlinkSync } from 'node:fs';
import type { Identity } from '../../model/identity.ts';
import type { Presence } from '../system.ts';
import { readKernelUnits, readUptime } from './host.ts';
import { readPresence } from './presence.ts';
import { BUFFER, listDirectory, readOnceIntoBuffer, readText } from './read.ts';
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

/** Null where that cannot be told: there is no /proc. */
export const isRunning = (identity: Identity): boolean | null => {
  const stat = statAt(identity.pid);
  if (stat === null) return readUptime(ROOT) === null ? null : false;
  return stat.start === identity.start && stat.state !== 'Z' && stat.state !== 'X';
};

const MOST_STEPS = 12;

/** Who is above us, nearest first, up to where nobody is. */
export const ancestors = (from: number): readonly (Identity & { readonly comm: string })[] => {
  const found: (Identity & { comm: string })[] = [];
  let pid = from;
  for (let step = 0; step < MOST_STEPS && pid > 1; step += 1) {
    const stat = statAt(pid);
    if (stat === null) break;
    found.push({ pid, start: stat.start, comm: stat.comm });
    pid = stat.ppid;
  }
  return found;
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

/** What a process has started, as the kernel tells it of each of its threads; nothing where it does not. */
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
