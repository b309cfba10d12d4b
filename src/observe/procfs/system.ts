import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import type { Sample, Self } from '../../model/observation.ts';
import type { NamedEnv, ProcessDetails, ProcessFacts } from '../../model/process.ts';
import type { DetailOptions, DetailRequest, LookOptions, System } from '../system.ts';
import { DetailReader, parseCgroup, readPss, type Surrounding } from './details.ts';
import { readEnv } from './environ.ts';
import { readFixedHostFacts, readKernelUnits, readMemory, readUptime } from './host.ts';
import { readPresence } from './one-process.ts';
import { lazily, readText } from './read.ts';
import { readUnixSockets } from './sockets.ts';
import { ProcessTable } from './table.ts';

const selfAmong = (processes: readonly ProcessFacts[], root: string): Self => ({
  pid: process.pid,
  uid: process.getuid?.() ?? 0,
  pgid: processes.find(p => p.pid === process.pid)?.pgid ?? null,
  cgroup: parseCgroup(readText(`${root}/self/cgroup`)),
});

/** What a look leaves to the questions that follow it. */
interface Kept {
  fixed: ReturnType<typeof readFixedHostFacts> | null;
  clock: number;
  swapInUse: boolean;
}

const lookAt = async (
  root: string,
  table: ProcessTable,
  kept: Kept,
  { whole = false }: LookOptions = {},
): Promise<Sample> => {
  const uptime = readUptime(root);
  if (uptime === null)
    throw new Error(
      `${root}/uptime cannot be read: /proc is not mounted here. --platform portable works without it.`,
    );
  kept.clock = uptime;
  kept.fixed ??= readFixedHostFacts(root);
  const processes = await table.scan(uptime, whole);
  const memory = readMemory(root);
  kept.swapInUse = memory.swapUsed !== 0;
  return {
    takenAt: Date.now(),
    clock: uptime,
    host: { ...kept.fixed, ...memory },
    self: selfAmong(processes, root),
    processes,
    complete: true,
    warnings: [],
  };
};

/** What the details of one process are read beside, each made when it is first asked for. */
const everybody = (
  table: ProcessTable,
): Pick<Surrounding, 'unix' | 'kinOf' | 'closed' | 'onTerminal' | 'crashHandlers'> => {
  const kin = lazily(() => table.kin());
  const closed = lazily(() => table.closedTo(process.getuid?.() ?? 0));
  const onTerminal = lazily(() => table.byTerminal());
  return {
    unix: readUnixSockets,
    kinOf: pid => kin()(pid),
    closed: pid => closed()(pid),
    onTerminal: tty => onTerminal().get(tty) ?? [],
    crashHandlers: lazily(() => table.crashHandlers()),
  };
};

/** Linux: everything read from /proc directly, no child process. `root` is another directory in tests only. */
export const procfsSystem = ({
  root = '/proc',
}: {
  root?: string;
} = {}): System & { readonly table: ProcessTable } => {
  const units = readKernelUnits(root);
  const table = new ProcessTable(root, units);
  const reader = new DetailReader(root);
  const kept: Kept = { fixed: null, clock: 0, swapInUse: true };

  return {
    backend: 'procfs',
    readOnly: null,
    table,

    sample: options => lookAt(root, table, kept, options),

    async environ(targets: readonly Identity[]): Promise<ReadonlyMap<IdentityKey, NamedEnv>> {
      const found = new Map<IdentityKey, NamedEnv>();
      for (const target of targets) {
        const env = readEnv(root, target.pid);
        if (env === null) continue;
        found.set(keyOf(target), env);
        table.rememberEnv(target.pid, env);
      }
      return found;
    },

    async details(
      requests: readonly DetailRequest[],
      { fresh }: DetailOptions = {},
    ): Promise<ReadonlyMap<IdentityKey, ProcessDetails>> {
      const execMarks = table.marks(requests.map(r => r.pid));
      return reader.read(
        requests.flatMap(request => {
          const mark = execMarks.get(request.pid);
          return mark === undefined ? [] : [{ asked: request, ppid: mark.ppid, execMark: mark.mark }];
        }),
        { ...everybody(table), clock: kept.clock, fresh, swapInUse: kept.swapInUse },
      );
    },

    presence: pid => readPresence(root, pid, units.pageSize),

    async proportionalMemory(pid: number): Promise<number | null> {
      return readPss(root, pid);
    },

    follow(related: ReadonlySet<IdentityKey>): void {
      table.follow(related);
    },

    close: () => table.close(),
  };
};
