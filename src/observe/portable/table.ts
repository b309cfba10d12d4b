import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { ProcessFacts } from '../../model/process.ts';
import { factsOf } from '../recorded/facts.ts';
import { emptyRow, type Row } from '../recorded/row.ts';
import { type Command, sameBirth } from './commands.ts';
import type { PsRow } from './ps.ts';
import type { Usage } from './usage.ts';

export interface Sample {
  readonly rows: readonly PsRow[];
  readonly commands: ReadonlyMap<number, Command>;
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
const isOurPs = (row: PsRow, command: Command | undefined): boolean =>
  row.ppid === process.pid && (command === undefined || command.name === 'ps');

const rowOf = (
  row: PsRow,
  command: Command | undefined,
  usage: Usage | undefined,
  clock: number,
): Row & { pid: number } => ({
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
export class PortableTable {
  #before: CpuTimes = new Map();

  join({ rows, commands, usage, clock }: Sample): ProcessFacts[] {
    const setting = { clock, kthreadd: /kthreadd/.test(commands.get(2)?.name ?? '') };
    const times: CpuTimes = new Map();
    const processes: ProcessFacts[] = [];
    for (const row of rows) {
      const listed = commands.get(row.pid);
      // Another process has taken the pid between the calls: its words belong to somebody else.
      const command = listed !== undefined && sameBirth(listed, row.start) ? listed : undefined;
      if (isOurPs(row, command)) continue;
      const facts = factsOf(rowOf(row, command, usage.get(row.pid), clock), setting);
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
