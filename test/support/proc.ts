import { readdirSync, readFileSync } from 'node:fs';

/** A deliberately separate, naive /proc reader: tests must not check the product with its own parser. */
export interface RawProcess {
  pid: number;
  start: string;
  ppid: number;
  pgid: number;
  sid: number;
  state: string;
  comm: string;
}

export const rawProcess = (pid: number): RawProcess | null => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const close = text.lastIndexOf(')');
    const rest = text.slice(close + 2).split(' ');
    return {
      pid,
      comm: text.slice(text.indexOf('(') + 1, close),
      state: rest[0]!,
      ppid: Number(rest[1]),
      pgid: Number(rest[2]),
      sid: Number(rest[3]),
      start: rest[19]!,
    };
  } catch {
    return null; // vanished between two reads
  }
};

export const allPids = (): number[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number);

/** A zombie has ended: PID 1 on these machines reaps late. */
export const isRunning = (pid: number, start?: string): boolean => {
  const p = rawProcess(pid);
  return p !== null && p.state !== 'Z' && p.state !== 'X' && (start === undefined || p.start === start);
};

export const childrenOf = (pid: number): RawProcess[] =>
  allPids()
    .map(rawProcess)
    .filter((p): p is RawProcess => p !== null && p.ppid === pid);

/** Pids whose environment holds the exact entry `NAME=value`. */
export const pidsWithEnv = (entry: string): number[] =>
  allPids().filter(pid => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(entry);
    } catch {
      return false;
    }
  });

/** Seconds since boot, as start times count them. */
export const uptime = (): number => Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);

const KTHREADD = 2;

/** In the middle of an exec a process has no environment to be known by: those of ours that began since `seconds`. */
export const inExec = (seconds: number): number[] =>
  allPids().filter(pid => {
    try {
      if (readFileSync(`/proc/${pid}/environ`, 'latin1') !== '') return false;
      const p = rawProcess(pid);
      return (
        p !== null && !'ZX'.includes(p.state) && p.ppid !== KTHREADD && Number(p.start) / 100 >= seconds - 1
      );
    } catch {
      return false; // vanished, or another user's
    }
  });
