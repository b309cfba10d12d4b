import { keyOf } from '../../model/identity.ts';
import { isZombie, memoryOf } from '../../model/process.ts';
import type { Glimpse, SeenProcess } from '../../model/report.ts';
import type { JudgedProcess, Snapshot } from '../../model/snapshot.ts';

const lastPart = (path: string | null): string | null =>
  path?.split('/').findLast(part => part !== '') ?? null;

const seen = (p: JudgedProcess): SeenProcess => ({
  key: keyOf(p.facts),
  kind: p.kind,
  agent: p.agent,
  project: lastPart(p.facts.details?.cwd ?? null),
  memory: memoryOf(p.facts),
});

/** What a report needs of a moment: a week of them fits into memory, a week of snapshots does not. */
export const glimpseOf = (snapshot: Snapshot): Glimpse => {
  const running = snapshot.processes.filter(p => p.related && !isZombie(p.facts));
  return {
    at: snapshot.takenAt,
    related: snapshot.totals.related,
    zombies: snapshot.totals.zombies,
    builds: running.filter(p => p.name === 'lake build').length,
    tmuxSessions: new Set(
      snapshot.tmux.flatMap(({ socket, panes }) => panes.map(p => `${socket} ${p.sessionId}`)),
    ).size,
    memory: snapshot.totals.rss + snapshot.totals.swap,
    agents: running.filter(p => p.isSession).map(seen),
    leaks: running.filter(p => p.verdict === 'leak').map(seen),
    findings: snapshot.findings.map(({ id, processes, files }) => ({
      id,
      about: [...processes.map(keyOf), ...files],
    })),
  };
};
