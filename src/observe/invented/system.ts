import type { HostFacts, Look } from '../../model/observation.ts';
import type { SignalName } from '../../model/plan.ts';
import type { NamedEnv, ProcessDetails } from '../../model/process.ts';
import type { Presence, System } from '../system.ts';
import { inventedRecords } from './files.ts';
import {
  bytesOf,
  factsOf,
  INVENTED_CLOCK,
  INVENTED_NOW,
  INVENTED_PROCESSES,
  INVENTED_SELF,
  INVENTED_UID,
  type InventedProcess,
} from './machine.ts';
import { InventedTable } from './running.ts';
import { inventedTmux } from './tmux.ts';

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
const ENDING: ReadonlySet<SignalName> = new Set(['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGHUP', 'SIGQUIT']);

/** What a process is in after it was stopped, or told to go on. */
const STATES: Readonly<Partial<Record<SignalName, string>>> = { SIGSTOP: 'T', SIGCONT: 'S' };

/** Somebody who is deaf to TERM, so that a KILL is seen as well. */
const STUBBORN: ReadonlySet<number> = new Set([3460]);

const HOST: HostFacts = {
  name: 'atlas',
  platform: 'linux',
  backend: 'demo',
  container: false,
  bootId: null,
  memTotal: 31 * GIB,
  memAvailable: 15 * GIB,
  swapUsed: 2.4 * GIB,
};

export interface InventedOptions {
  readonly processes?: readonly InventedProcess[];
  /** What is waited for before a process that was told to end is gone. */
  readonly pace?: () => Promise<unknown>;
  readonly readOnly?: string | null;
}

/** A machine that does not exist, and its time, which passes only when told to. */
export interface InventedSystem extends System {
  pass(seconds: number): void;
  /** Every signal that was sent. */
  readonly delivered: readonly { readonly pid: number; readonly signal: SignalName }[];
}

/** What fills the contract of a system for `--demo`: looked at, judged, planned and acted on by the real code. */
export const inventedSystem = (options: InventedOptions = {}): InventedSystem => {
  const { pace = async () => {}, readOnly = null } = options;
  const table = new InventedTable(options.processes ?? INVENTED_PROCESSES);
  const delivered: { pid: number; signal: SignalName }[] = [];
  let elapsed = 0;

  const look = async (): Promise<Look> => ({
    takenAt: INVENTED_NOW + elapsed * 1000,
    clock: INVENTED_CLOCK + elapsed,
    host: HOST,
    self: { pid: INVENTED_SELF, uid: INVENTED_UID, pgid: INVENTED_SELF, cgroup: null },
    // As in a first look at a real machine, environment and details are not there until they are asked for.
    processes: table.startedBy(elapsed).map(p => ({ ...factsOf(p, elapsed), env: null, details: null })),
    complete: true,
    warnings: [],
  });

  const presence = (pid: number): Presence => {
    const p = table.at(pid);
    if (p === undefined) return { status: 'gone' };
    const { start, state, ppid, pgid, sid, rss } = factsOf(p, elapsed);
    return { status: 'present', identity: { pid, start }, state, ppid, pgid, sid, rss };
  };

  return {
    backend: 'demo',
    readOnly,
    delivered,
    around: () => ({
      tmux: inventedTmux(table.has),
      workers: [],
      strange: [],
      ...inventedRecords(elapsed, table.has),
    }),
    look,
    environ: async targets => table.find<NamedEnv>(targets, p => factsOf(p, elapsed).env ?? {}),
    details: async requests => table.find<ProcessDetails>(requests, p => factsOf(p, elapsed).details!),
    presence,
    /** A nudge makes a parent reap; whoever is told to end does so in a moment. */
    deliver: (pid, signal) => {
      if (!table.has(pid)) throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' });
      delivered.push({ pid, signal });
      const state = STATES[signal];
      if (state !== undefined) table.setState(pid, state);
      else if (signal === 'SIGCHLD') table.reapChildrenOf(pid);
      else if (ENDING.has(signal) && !(signal === 'SIGTERM' && STUBBORN.has(pid)))
        void pace().then(() => table.end(pid));
    },
    proportionalMemory: async pid => {
      const p = table.at(pid);
      return p === undefined ? null : bytesOf(p, elapsed) + p.swap * MIB;
    },
    follow: () => {},
    pass: seconds => {
      elapsed += seconds;
    },
    close: () => {},
  };
};
