import { readFileSync } from 'node:fs';
import { allPids, type RawProcess, rawProcess } from '../../support/proc.ts';

/** pid and start time, as the kernel tells them. */
export interface Identity {
  readonly pid: number;
  readonly start: string;
}

export const keyOf = ({ pid, start }: Identity): string => `${pid}:${start}`;

/** Runs, and is no zombie. */
export const lives = ({ pid, start }: Identity): boolean => {
  const now = rawProcess(pid);
  return now !== null && now.start === start && now.state !== 'Z' && now.state !== 'X';
};

/** Running processes with this entry in their environment. */
export const carrying = (entry: string): RawProcess[] =>
  allPids().flatMap(pid => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
      const raw = environment.split('\0').includes(entry) ? rawProcess(pid) : null;
      return raw !== null && raw.state !== 'Z' && raw.state !== 'X' ? [raw] : [];
    } catch {
      return []; // vanished
    }
  });

/** Ends one identity for good. Only what the storm itself started is ever given here. */
export const end = (identity: Identity): void => {
  if (!lives(identity)) return;
  try {
    process.kill(identity.pid, 'SIGKILL');
  } catch {
    // vanished since
  }
};
