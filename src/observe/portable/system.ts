import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { Look } from '../../model/observation.ts';
import { type ProcessDetails, UNKNOWN_DETAILS } from '../../model/process.ts';
import { readState } from '../recorded/facts.ts';
import { looksContained } from '../recorded/table.ts';
import type { DetailRequest, Presence, System } from '../system.ts';
import { listCommands } from './commands.ts';
import { hostFacts } from './host.ts';
import { psAll, psOne } from './ps.ts';
import { PortableTable } from './table.ts';
import { readUsage } from './usage.ts';

/** With more processes than this, live figures are read only for those that somebody follows. */
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

    async look(): Promise<Look> {
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
