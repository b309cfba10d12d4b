import { homedir } from 'node:os';
import { keyOf } from '../../model/identity.ts';
import { asObject, type JsonObject } from '../../model/json.ts';
import { ENV_NAMES, type NamedEnv } from '../../model/process.ts';
import { safeArgv, safeText } from '../../model/redact.ts';
import { visible } from '../../model/text.ts';
import { looksContained, type RecordedTable } from '../recorded/table.ts';
import type { DetailRequest } from '../system.ts';
import { DarwinDetails } from './details.ts';
import { readHost } from './host.ts';
import { launchdJobs } from './launchd.ts';
import { type OpenFile, openFiles, socketsOf } from './lsof.ts';
import { type PsRow, psAll } from './ps.ts';
import { DarwinTable, wordsOf } from './table.ts';

/**
 * What a Mac's tools answered, for somebody who has none: `doctor --bundle` writes it, `--from` replays it. Without
 * secrets, without the user's name, and of environments only the marks of agents.
 */
interface Bundle {
  readonly bundle: 1;
  readonly takenAt: number;
  readonly uid: number;
  readonly pid: number;
  readonly host: JsonObject;
  readonly rows: readonly PsRow[];
  readonly environments: Readonly<Record<string, NamedEnv>>;
  readonly files: readonly OpenFile[] | null;
  readonly sockets: readonly OpenFile[] | null;
  readonly jobs: readonly (readonly [number, string])[] | null;
}

/** Whose files and environments are asked for, with what is known of their environments. */
export type Related = ReadonlyMap<number, NamedEnv | null>;

export const makeBundle = async (related: Related): Promise<Bundle> => {
  const uid = process.getuid?.() ?? 0;
  const [answer, host, files, sockets, jobs] = await Promise.all([
    psAll(),
    readHost(),
    openFiles([...related.keys()]),
    socketsOf(uid),
    launchdJobs(),
  ]);
  if (!answer.ok) throw new Error(answer.why);
  const plain = withoutUser(homedir());
  const file = (one: OpenFile): OpenFile => ({ ...one, name: plain(safeText(one.name)) });
  return {
    bundle: 1,
    takenAt: Date.now(),
    uid,
    pid: process.pid,
    host: { ...host, name: 'mac' },
    rows: answer.rows.map(row => ({ ...row, args: plain(safeArgv(wordsOf(row.name, row.args)).join(' ')) })),
    environments: Object.fromEntries(
      [...related].flatMap(([pid, env]) =>
        env === null ? [] : [[pid, { ...env, ...(env.HOME === undefined ? {} : { HOME: plain(env.HOME) }) }]],
      ),
    ),
    files: files?.map(file) ?? null,
    sockets: sockets?.map(file) ?? null,
    jobs: jobs === null ? null : [...jobs].map(([pid, label]) => [pid, plain(safeText(label))] as const),
  };
};

/** The home directory, and the name at its end wherever it stands alone. */
const withoutUser = (home: string) => {
  const name = home.slice(home.lastIndexOf('/') + 1);
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const alone = name.length < 3 ? null : new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, 'g');
  return (text: string): string => {
    const short = text.replaceAll(home, '/Users/me');
    return alone === null ? short : short.replace(alone, 'me');
  };
};

const texts = (value: unknown, names: readonly string[]): JsonObject | null => {
  const object = asObject(value);
  return object !== null && names.every(name => typeof object[name] === 'string') ? object : null;
};

const rowFrom = (value: unknown): PsRow[] => {
  const row = texts(value, ['stat', 'start', 'name', 'args']);
  if (row === null) return [];
  const numbers = [row.pid, row.ppid, row.pgid, row.uid, row.realUid, row.rss];
  if (!numbers.every(Number.isInteger) || !/^\d+$/.test(row.start as string)) return [];
  const tty = typeof row.tty === 'string' ? visible(row.tty) : null;
  const cpuSeconds = typeof row.cpuSeconds === 'number' ? row.cpuSeconds : null;
  return [{ ...(row as unknown as PsRow), tty, cpuSeconds }];
};

const filesFrom = (value: unknown): readonly OpenFile[] | null =>
  Array.isArray(value)
    ? value.flatMap(one => {
        const file = texts(one, ['fd', 'type', 'device', 'name']);
        return file !== null && Number.isInteger(file.pid) ? [file as unknown as OpenFile] : [];
      })
    : null;

const envFrom = (value: unknown): NamedEnv | null => {
  const object = asObject(value);
  if (object === null) return null;
  return Object.fromEntries(
    ENV_NAMES.flatMap(name => (typeof object[name] === 'string' ? [[name, safeText(object[name])]] : [])),
  );
};

/** The same verdicts as on that Mac, read-only; null: not a bundle. */
export const readBundle = async (value: JsonObject): Promise<RecordedTable | null> => {
  const { bundle, takenAt, uid, pid, rows, environments, jobs } = value;
  if (bundle !== 1 || !Array.isArray(rows) || typeof takenAt !== 'number' || typeof uid !== 'number')
    return null;
  const table = new DarwinTable();
  const facts = table.read(rows.flatMap(rowFrom), takenAt / 1000);
  const [files, sockets] = [filesFrom(value.files), filesFrom(value.sockets)];
  const labels = Array.isArray(jobs)
    ? new Map(jobs.flatMap(job => (Array.isArray(job) ? [[Number(job[0]), safeText(String(job[1]))]] : [])))
    : null;
  const parents = new Map(facts.map(p => [p.pid, p.ppid ?? 0]));
  const topOf = (of: number): number => {
    let top = of;
    for (let up = parents.get(top) ?? 0, steps = 0; up > 1 && steps < 1000; steps += 1) {
      top = up;
      up = parents.get(top) ?? 0;
    }
    return top;
  };
  const details = await new DarwinDetails(table, {
    uid,
    openFiles: async pids => files?.filter(file => pids.includes(file.pid)) ?? null,
    socketsOf: async () => sockets,
    launchdJobs: async () => labels,
  }).read(
    facts.map(
      (p): DetailRequest => ({
        pid: p.pid,
        start: p.start,
        descriptors: true,
        sockets: true,
        uses: true,
        tree: topOf(p.pid),
      }),
    ),
  );
  const known = asObject(environments) ?? {};
  const processes = facts.map(p => ({
    ...p,
    env: envFrom(known[String(p.pid)]),
    details: details.get(keyOf(p)) ?? null,
  }));
  const host = asObject(value.host) ?? {};
  const amount = (name: string): number | null => (typeof host[name] === 'number' ? host[name] : null);
  return {
    tmux: [],
    look: {
      takenAt,
      clock: takenAt / 1000,
      self: { pid: typeof pid === 'number' ? pid : 0, uid, pgid: null, cgroup: null },
      host: {
        name: 'mac',
        platform: 'darwin',
        backend: 'recorded',
        container: looksContained(processes),
        bootId: null,
        memTotal: amount('memTotal'),
        memAvailable: amount('memAvailable'),
        swapUsed: amount('swapUsed'),
      },
      processes,
      complete: true,
      warnings: [],
    },
  };
};
