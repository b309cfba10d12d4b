import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { allPids } from '../../support/proc.ts';

export const median = (values: readonly number[]): number => percentile(values, 50);

export const percentile = (values: readonly number[], percent: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
};

export const pause = (ms: number): Promise<void> => new Promise(done => setTimeout(done, ms));

type Sample = () => number | Promise<number>;

/** Runs every case once per round, in turns that begin with another one each time, and gives their samples. */
export const interleaved = async <Name extends string>(
  cases: Readonly<Record<Name, Sample>>,
  rounds: number,
): Promise<Record<Name, number[]>> => {
  const names = Object.keys(cases) as Name[];
  const samples = Object.fromEntries(names.map(name => [name, []])) as unknown as Record<Name, number[]>;
  for (const name of names) await cases[name](); // warm the page cache; not counted
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < names.length; turn += 1) {
      const name = names[(round + turn) % names.length]!;
      samples[name].push(await cases[name]());
    }
  }
  return samples;
};

export interface CommandOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** Milliseconds until the command has ended; its output goes nowhere. */
export const timeOfCommand =
  (command: string, args: readonly string[], options: CommandOptions): Sample =>
  () => {
    const from = process.hrtime.bigint();
    const { status, error } = spawnSync(command, args, { ...options, stdio: 'ignore' });
    if (error !== undefined || status !== 0)
      throw new Error(`${command} ${args.join(' ')} failed (${error?.message ?? status})`);
    return Number(process.hrtime.bigint() - from) / 1e6;
  };

/** The shell's own `time`: milliseconds of CPU, user and system, of the command and all that it waited for. */
const TIMED = 'TIMEFORMAT="%3U %3S"; { time "$0" "$@" > /dev/null 2>&1; } 2>&1';

/** CPU of a command until it has ended: what others do meanwhile changes that less than the time on a clock. */
export const cpuOfCommand =
  (command: string, args: readonly string[], options: CommandOptions): Sample =>
  () => {
    const { stdout, status, error } = spawnSync('bash', ['-c', TIMED, command, ...args], {
      ...options,
      encoding: 'utf8',
      env: { ...options.env, LC_ALL: 'C' },
    });
    const [user, system] = (stdout ?? '').trim().split(' ').map(Number);
    if (error !== undefined || status !== 0 || user === undefined || system === undefined)
      throw new Error(`${command} ${args.join(' ')} failed (${error?.message ?? status})`);
    return 1000 * (user + system);
  };

/** CPU of a process so far, of all its threads, in milliseconds. */
export const cpuSoFar = (pid: number): number => {
  let total = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`))
    total += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  return total;
};

/** What a process used and holds. CPU in ticks of 10 ms, ended children included; RSS in bytes. */
export interface Usage {
  readonly ticks: number;
  readonly rss: number;
}

const PAGE = 4096;

/** Of a process and all its descendants, ended ones included. */
export const usageOf = (pid: number): Usage => {
  const children = new Map<number, number[]>();
  const own = new Map<number, Usage>();
  for (const each of allPids()) {
    const fields = statFields(each);
    if (fields === null) continue;
    const [ppid, ticks, rss] = [
      Number(fields[1]),
      fields.slice(11, 15).reduce((sum, t) => sum + Number(t), 0),
      Number(fields[21]) * PAGE,
    ];
    own.set(each, { ticks, rss });
    children.set(ppid, [...(children.get(ppid) ?? []), each]);
  }
  let total: Usage = { ticks: 0, rss: 0 };
  const pending = [pid];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { ticks, rss } = own.get(next) ?? { ticks: 0, rss: 0 };
    total = { ticks: total.ticks + ticks, rss: total.rss + rss };
    pending.push(...(children.get(next) ?? []));
  }
  return total;
};

/** Everything after the name; index 0 is the state (field 3). */
const statFields = (pid: number | 'self'): string[] | null => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null; // vanished
  }
};

export interface Cost {
  readonly wall: number;
  readonly cpu: number;
}

/** CPU of this process to the microsecond, and of its ended children in ticks of 10 ms. */
const cpuNow = (): number => {
  const { user, system } = process.cpuUsage();
  const fields = statFields('self');
  return (user + system) / 1000 + 10 * (Number(fields?.[13]) + Number(fields?.[14]));
};

/** Milliseconds of one piece of work in this process. */
export const costOf = async (work: () => unknown): Promise<Cost> => {
  const cpu = cpuNow();
  const wall = process.hrtime.bigint();
  await work();
  return { wall: Number(process.hrtime.bigint() - wall) / 1e6, cpu: cpuNow() - cpu };
};
