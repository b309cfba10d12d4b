import type { Identity } from '../model/identity.ts';
import * as darwin from './darwin/one-process.ts';
import * as procfs from './procfs/one-process.ts';

/** Single processes, asked by number and answered at once: for hooks and locks, which cannot wait for a sample. */
const here = process.platform === 'darwin' ? darwin : procfs;

export type { Kin } from './procfs/one-process.ts';

export const ageSeconds: typeof procfs.ageSeconds = here.ageSeconds;
export const allKin: typeof procfs.allKin = here.allKin;
export const bootId: typeof procfs.bootId = here.bootId;
export const childrenAt: typeof procfs.childrenAt = here.childrenAt;
export const identityAt: typeof procfs.identityAt = here.identityAt;
export const isRunning: typeof procfs.isRunning = here.isRunning;
export const kinAt: typeof procfs.kinAt = here.kinAt;
export const memoryAt: typeof procfs.memoryAt = here.memoryAt;
export const pidNamespace: typeof procfs.pidNamespace = here.pidNamespace;
export const presenceAt: typeof procfs.presenceAt = here.presenceAt;
export const readOomKills: typeof procfs.readOomKills = here.readOomKills;
export const uptime: typeof procfs.uptime = here.uptime;

const MOST_STEPS = 12;

/** Our ancestors, nearest first. */
export const ancestors = (from: number): readonly (Identity & { readonly comm: string })[] => {
  const found: (Identity & { comm: string })[] = [];
  let pid = from;
  for (let step = 0; step < MOST_STEPS && pid > 1; step += 1) {
    const stat = here.statAt(pid);
    if (stat === null) break;
    found.push({ pid, start: stat.start, comm: stat.comm });
    pid = stat.ppid;
  }
  return found;
};
