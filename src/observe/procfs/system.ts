import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import type { Look } from '../../model/observation.ts';
import type { NamedEnv, ProcessDetails } from '../../model/process.ts';
import type { DetailRequest, Presence, System } from '../system.ts';
import { DetailReader, once, parseCgroup, readEnv, readPss } from './details.ts';
import { readFixedHostFacts, readKernelUnits, readMemory, readUptime } from './host.ts';
import { BUFFER, readOnceIntoBuffer, readText } from './read.ts';
import { parseStat } from './stat.ts';
import { readStatus } from './status.ts';
import { ProcessTable } from './table.ts';

/** Linux: everything read from /proc directly, no child process. `root` is another directory in tests only. */
export const procfsSystem = ({
  root = '/proc',
}: {
  root?: string;
} = {}): System & { readonly table: ProcessTable } => {
  const units = readKernelUnits(root);
  const table = new ProcessTable(root, units);
  const reader = new DetailReader(root);
  let fixed: ReturnType<typeof readFixedHostFacts> | null = null;
  let clock = 0;
  let swapInUse = true;

  const presence = (pid: number): Presence => {
    const owners = readStatus(root, pid);
    // Last: whoever signals relies on the identity, and on nothing that happened after it was read.
    const length = readOnceIntoBuffer(`${root}/${pid}/stat`);
    if (length === 'gone') return { status: 'gone' };
    if (length === 'denied') return { status: 'unreadable', why: `/proc/${pid}/stat may not be read` };
    const stat = parseStat(BUFFER, length);
    if (stat === null) return { status: 'unreadable', why: `/proc/${pid}/stat makes no sense` };
    const { start, state, ppid, pgid, sid, rssPages } = stat;
    if (owners === 'gone') return { status: 'gone' };
    if (owners === 'denied') return { status: 'unreadable', why: `/proc/${pid}/status may not be read` };
    return {
      status: 'present',
      identity: { pid, start },
      state,
      ppid,
      pgid,
      sid,
      rss: Math.max(0, rssPages) * units.pageSize,
      uids: [owners.realUid, owners.effectiveUid],
    };
  };

  return {
    backend: 'procfs',
    readOnly: null,
    table,

    async look(): Promise<Look> {
      const uptime = readUptime(root);
      if (uptime === null)
        throw new Error(
          `${root}/uptime cannot be read: /proc is not mounted here. --platform portable works without it.`,
        );
      clock = uptime;
      fixed ??= readFixedHostFacts(root);
      const processes = await table.scan(clock);
      const memory = readMemory(root);
      swapInUse = memory.swapUsed !== 0;
      const self = processes.find(p => p.pid === process.pid);
      return {
        takenAt: Date.now(),
        clock,
        host: { ...fixed, ...memory },
        self: {
          pid: process.pid,
          uid: process.getuid?.() ?? 0,
          pgid: self?.pgid ?? null,
          cgroup: parseCgroup(readText(`${root}/self/cgroup`)),
        },
        processes,
        complete: true,
        warnings: [],
      };
    },

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

    async details(requests: readonly DetailRequest[]): Promise<ReadonlyMap<IdentityKey, ProcessDetails>> {
      const execMarks = table.marks(requests.map(r => r.pid));
      const kin = once(() => table.kin());
      return reader.read(
        requests.flatMap(request => {
          const mark = execMarks.get(request.pid);
          return mark === undefined ? [] : [{ ...request, ppid: mark.ppid, execMark: mark.mark }];
        }),
        { clock, swapInUse, kinOf: pid => kin()(pid) },
      );
    },

    presence,

    async proportionalMemory(pid: number): Promise<number | null> {
      return readPss(root, pid);
    },

    follow(related: ReadonlySet<IdentityKey>): void {
      table.follow(related);
    },

    close(): void {},
  };
};
