import type { Observation } from '../../src/model/observation.ts';
import type { ProcessDetails, ProcessFacts } from '../../src/model/process.ts';

/** The invented machine that `world.ts`, `judge/plan/machine.ts` and `act/fake-system.ts` build on. */

/** Seconds of its clock; a process is born at its pid unless a test says otherwise. */
export const CLOCK = 100_000;
export const UID = 1000;

export const HOST: Observation['host'] = {
  name: 'invented',
  platform: 'linux',
  backend: 'procfs',
  container: false,
  bootId: null,
  memTotal: null,
  memAvailable: null,
  swapUsed: null,
};

/** A process that works in /p and is served by a pipe. */
export const PIPED: ProcessDetails = {
  cwd: '/p',
  swap: 0,
  cgroup: null,
  stdin: 'pipe',
  lostTerminal: false,
  ignoresHangup: false,
  io: 0,
  listening: { ports: [], clients: 0 },
  uses: [],
};

/** A process of our user that sleeps, alone in its session. */
export const ordinary = (pid: number, ppid: number | null, part: Partial<ProcessFacts>): ProcessFacts => ({
  pid,
  start: `s${pid}`,
  ppid,
  pgid: pid,
  sid: pid,
  uid: UID,
  tty: null,
  state: 'S',
  kernelThread: false,
  unreadable: false,
  born: pid,
  cpuSeconds: 1,
  cpu: 0,
  rss: 1000 + pid,
  comm: `p${pid}`,
  argv: [`p${pid}`],
  exe: null,
  env: null,
  details: null,
  ...part,
});
