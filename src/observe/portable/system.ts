import { freemem, hostname, totalmem } from 'node:os';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { HostFacts, Sample } from '../../model/observation.ts';
import { type ProcessDetails, type ProcessFacts, readState, UNKNOWN_DETAILS } from '../../model/process.ts';
import { visible } from '../../model/text.ts';
import { emptyRow, looksContained, type RecordedRow, recordedFacts } from '../recorded/table.ts';
import type { DetailRequest, Presence, System } from '../system.ts';
import {
  listCommands,
  type PsCommand,
  type PsRow,
  psAll,
  psOne,
  readUsage,
  sameBirth,
  type Usage,
} from './ps.ts';

/** With more processes than this, live figures are read only for those that are followed. */
const MEASURE_ALL = 800;

const presence = async (pid: number): Promise<Presence> => {
  if (!Number.isInteger(pid) || pid <= 0) return { status: 'gone' };
  const answer = await psOne(pid);
  if (!answer.ok) return { status: 'unreadable', why: answer.why };
  const row = answer.rows.find(r => r.pid === pid);
  if (row === undefined) return { status: 'gone' };
  const { start, stat, ppid, pgid, sid, rss, realUid, uid } = row;
  return {
    status: 'present',
    identity: { pid, start },
    state: readState(stat),
    ppid,
    pgid,
    sid,
    rss,
    uids: [realUid, uid],
  };
};

/** macOS and everything else without /proc: ps-list, pidusage and one `ps`. Runs on Linux too, where it is tested. */
export const portableSystem = (): System => {
  const table = new PortableTable();
  let followed: ReadonlySet<IdentityKey> = new Set();
  let realUids: ReadonlyMap<IdentityKey, number> = new Map();

  return {
    backend: 'portable',
    readOnly: null,

    async sample(): Promise<Sample> {
      const answer = await psAll();
      if (!answer.ok) throw new Error(answer.why);
      // After it, and only when ps answers: ps-list waits for it without end.
      const commands = await listCommands().catch(error => error as Error);
      if (commands instanceof Error)
        throw new Error(`The process list could not be read: ${commands.message}`);
      // We exist: a table without us is no table.
      const self = answer.rows.find(row => row.pid === process.pid);
      if (self === undefined) throw new Error('ps answered, but not in a form that can be read here.');
      const measured =
        answer.rows.length <= MEASURE_ALL ? answer.rows : answer.rows.filter(row => followed.has(keyOf(row)));
      const usage = await readUsage(measured.map(row => row.pid));
      const clock = Date.now() / 1000;
      const processes = table.join({ rows: answer.rows, commands, usage, clock });
      realUids = new Map(answer.rows.map(row => [keyOf(row), row.realUid]));
      return {
        takenAt: Math.round(clock * 1000),
        clock,
        host: hostFacts(looksContained(processes)),
        self: { pid: process.pid, uid: process.getuid?.() ?? self.uid, pgid: self.pgid, cgroup: null },
        processes,
        complete: true,
        warnings: [],
      };
    },

    /** Not readable without /proc: no evidence. */
    environ: async () => new Map(),

    async details(requests: readonly DetailRequest[]): Promise<ReadonlyMap<IdentityKey, ProcessDetails>> {
      const found = new Map<IdentityKey, ProcessDetails>();
      for (const key of requests.map(keyOf)) {
        const realUid = realUids.get(key);
        if (realUid !== undefined) found.set(key, { ...UNKNOWN_DETAILS, realUid });
      }
      return found;
    },

    presence,
    proportionalMemory: async () => null,
    follow(related: ReadonlySet<IdentityKey>): void {
      followed = related;
    },
    close(): void {},
  };
};

export interface PortableSample {
  readonly rows: readonly PsRow[];
  readonly commands: ReadonlyMap<number, PsCommand>;
  readonly usage: ReadonlyMap<number, Usage>;
  /** Now, in epoch seconds. */
  readonly clock: number;
}

/** The clock was set since the process started when start and age disagree by more than ps's rounding. */
const CLOCK_STEP = 5;

/** Age by the start time, which keeps parents older than their children; by the elapsed time after a clock step. */
const ageOf = (row: PsRow, usage: Usage | undefined, clock: number): number => {
  const age = clock - Number(row.start);
  return usage === undefined || Math.abs(age - usage.elapsedSeconds) <= CLOCK_STEP
    ? age
    : usage.elapsedSeconds;
};

/** The `ps` processes that made this very look. */
const isOurPs = (row: PsRow, command: PsCommand | undefined): boolean =>
  row.ppid === process.pid && (command === undefined || command.name === 'ps');

const rowOf = (
  row: PsRow,
  command: PsCommand | undefined,
  usage: Usage | undefined,
  clock: number,
): RecordedRow & { pid: number } => ({
  ...emptyRow(),
  pid: row.pid,
  start: row.start,
  ppid: row.ppid,
  pgid: row.pgid,
  sid: row.sid,
  uid: row.uid,
  tty: row.tty,
  stat: row.stat,
  rss: usage?.rss ?? row.rss,
  cpuSeconds: usage?.cpuSeconds ?? null,
  ageSeconds: ageOf(row, usage, clock),
  comm: command?.name ?? null,
  command: command?.command ?? null,
});

type CpuTimes = Map<IdentityKey, { readonly seconds: number; readonly at: number }>;

/** Joins what the three sources say, and remembers CPU times to tell rates by identity. */
class PortableTable {
  #before: CpuTimes = new Map();

  join({ rows, commands, usage, clock }: PortableSample): ProcessFacts[] {
    const setting = { clock, kthreadd: /kthreadd/.test(commands.get(2)?.name ?? '') };
    const times: CpuTimes = new Map();
    const processes: ProcessFacts[] = [];
    for (const row of rows) {
      const listed = commands.get(row.pid);
      // Another process has taken the pid between the calls: the argv is not this one's.
      const command = listed !== undefined && sameBirth(listed, row.start) ? listed : undefined;
      if (isOurPs(row, command)) continue;
      const facts = recordedFacts(rowOf(row, command, usage.get(row.pid), clock), setting);
      const exe = facts.state === 'Z' ? null : (command?.exe ?? null);
      processes.push({ ...facts, exe, cpu: this.#rate(facts, times, clock) });
    }
    this.#before = times;
    return processes;
  }

  #rate(facts: ProcessFacts, times: CpuTimes, at: number): number | null {
    const { cpuSeconds: seconds } = facts;
    if (seconds === null) return null;
    const key = keyOf(facts);
    times.set(key, { seconds, at });
    const before = this.#before.get(key);
    if (before === undefined || at <= before.at) return null;
    return Math.max(0, ((seconds - before.seconds) / (at - before.at)) * 100);
  }
}

/** What node:os knows. It knows nothing of swap, nor of boots. */
const hostFacts = (container: boolean): HostFacts => ({
  name: visible(hostname()),
  platform: process.platform,
  backend: 'portable',
  container,
  bootId: null,
  memTotal: totalmem(),
  memAvailable: freemem(),
  swapUsed: null,
});
