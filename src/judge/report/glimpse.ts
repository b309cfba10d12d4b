import type { Heartbeat, ReadingFormat } from '../../model/heartbeat.ts';
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

/** The seeds' skills: an agent that cannot finish returns what it has, or fails, or is never heard of again. */
const RESULTS: Readonly<Record<string, 'partial' | 'none'>> = {
  partial: 'partial',
  failed: 'none',
  blocked: 'none',
};

const resultOf = ({ format, status, state, path, sessionId }: Heartbeat): Glimpse['results'] => {
  if (format !== ('return-meta' satisfies ReadingFormat) || status === null) return [];
  const result = status === 'in_progress' && state === 'leftover' ? 'none' : RESULTS[status];
  return result === undefined ? [] : [{ key: `${path} ${sessionId ?? ''}`, result }];
};

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
    results: snapshot.heartbeats.flatMap(resultOf),
    leaks: running.filter(p => p.verdict === 'leak').map(seen),
    findings: snapshot.findings.map(({ id, processes, files }) => ({
      id,
      about: [...processes.map(keyOf), ...files],
    })),
  };
};
