import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import type { Sample } from '../../model/observation.ts';
import { ENV_NAMES, type NamedEnv, readState } from '../../model/process.ts';
import { visible } from '../../model/text.ts';
import { looksContained } from '../recorded/table.ts';
import { runCommand } from '../run-command.ts';
import type { Presence, System } from '../system.ts';
import { DarwinDetails, DETAIL_TOOLS, type DetailTools } from './details.ts';
import { readHost } from './host.ts';
import { PsReader, psAll, psEnvironments, psSome, toolEnvironment } from './ps.ts';
import { DarwinTable } from './table.ts';

const HOST_MS = 10_000;

/** What is asked of a Mac, each by a child process. */
export interface MacTools extends DetailTools {
  readonly psAll: typeof psAll;
  readonly psEnvironments: typeof psEnvironments;
  readonly readHost: typeof readHost;
}

const THIS_MAC: MacTools = { ...DETAIL_TOOLS, psAll, psEnvironments, readHost };

/** macOS: one `ps` for the table, `lsof` and `launchctl` for what decides, `sysctl` for the machine. */
export const darwinSystem = (tools: MacTools = THIS_MAC): System => {
  const reader = new PsReader();
  const table = new DarwinTable();
  const details = new DarwinDetails(table, tools);
  let host: ReturnType<typeof readHost> | null = null;
  let hostAt = Number.NEGATIVE_INFINITY;
  /** Memory and swap change slowly, and each question is a child process. */
  const hostNow = (): ReturnType<typeof readHost> => {
    if (host === null || Date.now() - hostAt >= HOST_MS) {
      host = tools.readHost();
      hostAt = Date.now();
    }
    return host;
  };
  return {
    backend: 'darwin',
    readOnly: null,

    async sample(): Promise<Sample> {
      const [answer, machine] = await Promise.all([tools.psAll(reader.read), hostNow()]);
      if (!answer.ok) throw new Error(answer.why);
      const takenAt = Date.now();
      const processes = table.read(answer.rows, takenAt / 1000);
      // We exist: a table without us is not a table.
      const own = processes.find(({ pid }) => pid === process.pid);
      if (own === undefined) throw new Error('ps answered, but not in a form that can be read here.');
      const self = { pid: own.pid, uid: own.uid ?? 0, pgid: own.pgid, cgroup: null };
      const container = looksContained(processes);
      return {
        processes,
        self,
        host: { ...machine, container },
        takenAt,
        clock: takenAt / 1000,
        complete: true,
        warnings: [],
      };
    },

    async environ(targets: readonly Identity[]): Promise<ReadonlyMap<IdentityKey, NamedEnv>> {
      const found = new Map<IdentityKey, NamedEnv>();
      const lines = targets.length === 0 ? null : await tools.psEnvironments(targets.map(({ pid }) => pid));
      for (const target of targets) {
        const row = table.rowOf(keyOf(target));
        const line = lines?.get(target.pid);
        const env = row === undefined || line === undefined ? null : environmentIn(line, row.args);
        if (env !== null) found.set(keyOf(target), env);
      }
      return found;
    },

    details: (requests, options) => details.read(requests, options),
    presence,
    proportionalMemory: footprints(),
    follow(): void {},
    close(): void {},
  };
};

/**
 * What follows the arguments. Null: nothing does, which proves nothing (the system hides it for its own programs), or
 * the process has become another program meanwhile.
 */
export const environmentIn = (line: string, args: string): NamedEnv | null => {
  if (!line.startsWith(`${args} `)) return null;
  const block = line.slice(args.length);
  if (!/ [A-Za-z_]\w*=/.test(block)) return null;
  const env: Partial<Record<(typeof ENV_NAMES)[number], string>> = {};
  for (const name of ENV_NAMES) {
    const at = block.indexOf(` ${name}=`);
    if (at >= 0) env[name] = visible(block.slice(at + name.length + 2).split(' ', 1)[0]!);
  }
  return env;
};

const presence = async (pid: number): Promise<Presence> => {
  if (!Number.isInteger(pid) || pid <= 0) return { status: 'gone' };
  const answer = await psSome([pid]);
  if (!answer.ok) return { status: 'unreadable', why: answer.why };
  const row = answer.rows.find(r => r.pid === pid);
  if (row === undefined) return { status: 'gone' };
  const { start, stat, ppid, pgid, rss, realUid, uid } = row;
  return {
    status: 'present',
    identity: { pid, start },
    state: readState(stat),
    ppid,
    pgid,
    sid: stat.includes('s') ? pid : null,
    rss,
    uids: [realUid, uid],
  };
};

const TOP_MS = 5000;
const MOST_TOP = 4 * 1024 ** 2;
const FOOTPRINT_MS = 10_000;
const UNITS: Readonly<Record<string, number>> = { B: 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/** What the activity monitor calls memory, private and compressed pages, by pid: `412  42M+`. */
export const parseTop = (text: string): ReadonlyMap<number, number> =>
  new Map(
    [...text.matchAll(/^(\d+)\s+(\d+)([BKMG])[+-]?\s*$/gm)].map(([, pid, size, unit]) => [
      Number(pid),
      Number(size) * UNITS[unit!]!,
    ]),
  );

/** A top takes about a second, and a plan asks for hundreds of processes: one answers for all, also when it failed. */
const footprints = (): ((pid: number) => Promise<number | null>) => {
  let known: Promise<ReadonlyMap<number, number>> = Promise.resolve(new Map());
  let readAt = Number.NEGATIVE_INFINITY;
  return async pid => {
    if (performance.now() - readAt >= FOOTPRINT_MS) {
      readAt = performance.now();
      known = runCommand('top', ['-l', '1', '-stats', 'pid,mem'], {
        timeoutMs: TOP_MS,
        env: toolEnvironment(),
        mostOutput: MOST_TOP,
      }).then(result => parseTop(result.status === 'done' ? result.stdout : ''));
    }
    return (await known).get(pid) ?? null;
  };
};
