import type { IdentityKey } from '../../model/identity.ts';
import { keyOf } from '../../model/identity.ts';
import type { NamedEnv, ProcessDetails, ProcessFacts } from '../../model/process.ts';
import type { System } from '../system.ts';
import type { RecordedTable } from './table.ts';

const READ_ONLY = 'a recorded table: nothing can be signalled';

/** A table that never changes. It answers every question about its processes and touches none. */
export const recordedSystem = (table: RecordedTable): System => {
  const byPid = new Map<number, ProcessFacts>(table.look.processes.map(p => [p.pid, p]));
  return {
    backend: 'recorded',
    readOnly: READ_ONLY,
    around: () => ({ tmux: table.tmux, sessions: [], workers: [], strange: [], readings: [] }),
    look: async () => table.look,
    environ: async targets => {
      const found = new Map<IdentityKey, NamedEnv>();
      for (const target of targets) {
        const process = byPid.get(target.pid);
        if (process?.start === target.start && process.env !== null) found.set(keyOf(target), process.env);
      }
      return found;
    },
    details: async requests => {
      const found = new Map<IdentityKey, ProcessDetails>();
      for (const request of requests) {
        const process = byPid.get(request.pid);
        if (process?.start === request.start && process.details !== null)
          found.set(keyOf(request), process.details);
      }
      return found;
    },
    presence: pid => {
      const process = byPid.get(pid);
      if (process === undefined) return { status: 'gone' };
      const { start, state, ppid, pgid, sid, rss } = process;
      return { status: 'present', identity: { pid, start }, state, ppid, pgid, sid, rss };
    },
    proportionalMemory: async () => null,
    follow: () => {},
    close: () => {},
  };
};
