import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import type { ProcessFacts } from '../../model/process.ts';
import type { System } from '../system.ts';
import type { RecordedTable } from './table.ts';

const READ_ONLY = 'a recorded table: nothing can be signalled';

/** A table that never changes. It answers every question about its processes and touches none. */
export const recordedSystem = (table: RecordedTable): System => {
  const byPid = new Map<number, ProcessFacts>(table.look.processes.map(p => [p.pid, p]));
  const told = <T>(asked: readonly Identity[], of: (facts: ProcessFacts) => T | null) => {
    const found = new Map<IdentityKey, T>();
    for (const identity of asked) {
      const facts = byPid.get(identity.pid);
      const value = facts?.start === identity.start ? of(facts) : null;
      if (value !== null) found.set(keyOf(identity), value);
    }
    return found;
  };
  return {
    backend: 'recorded',
    readOnly: READ_ONLY,
    around: () => ({ tmux: table.tmux, sessions: [], workers: [], strange: [], readings: [] }),
    look: async () => table.look,
    environ: async targets => told(targets, ({ env }) => env),
    details: async requests => told(requests, ({ details }) => details),
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
