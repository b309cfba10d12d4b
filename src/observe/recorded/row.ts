import type { NamedEnv } from '../../model/process.ts';

/** One line of a table before it is understood as a process: what the source said, nothing else. */
export interface Row {
  pid: number | null;
  ppid: number | null;
  pgid: number | null;
  sid: number | null;
  uid: number | null;
  tty: string | null;
  stat: string | null;
  rss: number | null;
  swap: number | null;
  /** Only to tell kernel threads, which have none. */
  virtualSize: number | null;
  ageSeconds: number | null;
  startText: string | null;
  cpuSeconds: number | null;
  cpu: number | null;
  comm: string | null;
  command: string | null;
  cwd: string | null;
  env: NamedEnv | null;
  /** The identity's second half when the source is our own JSON. */
  start: string | null;
  /** Why our own JSON calls it protected. */
  spared: string | null;
  /** Why it does not call it a leak. */
  doubted: string | null;
  proven: readonly string[] | null;
}

export const emptyRow = (): Row => ({
  pid: null,
  ppid: null,
  pgid: null,
  sid: null,
  uid: null,
  tty: null,
  stat: null,
  rss: null,
  swap: null,
  virtualSize: null,
  ageSeconds: null,
  startText: null,
  cpuSeconds: null,
  cpu: null,
  comm: null,
  command: null,
  cwd: null,
  env: null,
  start: null,
  spared: null,
  doubted: null,
  proven: null,
});

/** Linux's PID_MAX_LIMIT: no kernel hands out a larger pid, so rows without one are numbered above it. */
export const MAX_PID = 4_194_304;

export const isPid = (value: number, most = MAX_PID): boolean =>
  Number.isInteger(value) && value >= 0 && value <= most;
