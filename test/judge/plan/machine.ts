import type { Recognition } from '../../../src/model/kind.ts';
import type { ProcessFacts } from '../../../src/model/process.ts';
import type { JudgedProcess, Snapshot } from '../../../src/model/snapshot.ts';
import { CLOCK, HOST, ordinary, PIPED, UID } from '../../support/machine.ts';

export { PIPED, UID };

/** Judged processes and snapshots, as plans and screens get them. */
type Part = Partial<Omit<JudgedProcess, 'facts' | 'seen'>> & {
  readonly facts?: Partial<ProcessFacts>;
  readonly seen?: Partial<Recognition>;
};

export const SELF = 900;
/** One process of an invented machine; start, birth and age follow from the pid unless given. */
export const invent = (pid: number, ppid: number, part: Part = {}): JudgedProcess => {
  const born = part.facts?.born === undefined ? pid : part.facts.born;
  const facts = ordinary(pid, ppid, { ...part.facts, born });
  const kind = part.kind ?? 'other';
  return {
    agent: null,
    name: `p${pid}`,
    command: `p${pid} --run`,
    isSession: kind === 'agent',
    servesOne: kind === 'agent',
    ageSeconds: born === null ? null : CLOCK - born,
    depth: 0,
    owner: null,
    session: null,
    tmux: null,
    verdict: 'leak',
    why: [`because of ${pid}`],
    protection: null,
    protectedBecause: null,
    zombies: 0,
    related: true,
    ...part,
    kind,
    facts,
    seen: {
      kind,
      agent: null,
      family: null,
      known: 'list',
      name: `p${pid}`,
      role: null,
      wraps: null,
      transport: null,
      saysStdio: false,
      sessionIds: [],
      forkedFrom: [],
      anchor: null,
      adoptsOrphans: false,
      mentionsMcp: false,
      ...part.seen,
    },
  };
};

/** PID 1, a login shell and reaptop in it: what every machine has. */
export const HOUSE: readonly JudgedProcess[] = [
  invent(1, 0, {
    verdict: 'protected',
    protection: 'hard',
    protectedBecause: 'it is PID 1',
    facts: { uid: 0 },
  }),
  invent(800, 1, { kind: 'shell', verdict: 'unknown', name: 'bash', facts: { born: 2 } }),
  invent(SELF, 800, { verdict: 'unknown', name: 'reaptop' }),
];

export const snapshotOf = (processes: readonly JudgedProcess[], part: Partial<Snapshot> = {}): Snapshot => ({
  takenAt: 0,
  clock: CLOCK,
  host: HOST,
  self: { pid: SELF, uid: UID, pgid: SELF, cgroup: null },
  totals: {
    processes: processes.length,
    agents: 0,
    related: 0,
    rss: 0,
    swap: 0,
    reclaimable: 0,
    leaks: 0,
    suspects: 0,
    zombies: 0,
  },
  warnings: [],
  processes,
  findings: [],
  heartbeats: [],
  tmux: [],
  ...part,
});

export const machine = (...processes: JudgedProcess[]): Snapshot => snapshotOf([...HOUSE, ...processes]);

export const id = (pid: number): { pid: number; start: string } => ({ pid, start: `s${pid}` });
export const noLineage = (): readonly string[] => [];
export const pids = (entries: readonly { readonly pid: number }[]): number[] => entries.map(e => e.pid);
