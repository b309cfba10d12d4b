import type { Call } from '../../model/call.ts';
import { aboutOf, type Finding } from '../../model/finding.ts';
import type { Heartbeat, ReadingFormat } from '../../model/heartbeat.ts';
import { keyOf } from '../../model/identity.ts';
import type { TmuxServer } from '../../model/observation.ts';
import { isZombie, memoryOf, type ProcessDetails, type ProcessFacts } from '../../model/process.ts';
import type { Glimpse, SeenProcess } from '../../model/report.ts';
import type { JudgedProcess, Totals } from '../../model/snapshot.ts';
import { visible } from '../../model/text.ts';

export type GlimpsedCall = Pick<Call, 'id' | 'tool' | 'server' | 'startedAt' | 'hung'>;

export type GlimpsedProcess = Pick<
  JudgedProcess,
  'kind' | 'agent' | 'name' | 'isSession' | 'verdict' | 'related'
> & {
  readonly facts: Pick<ProcessFacts, 'pid' | 'start' | 'state' | 'rss'> & {
    readonly details: Pick<ProcessDetails, 'cwd' | 'swap'> | null;
  };
  readonly session?: { readonly calls?: readonly GlimpsedCall[] | undefined } | null;
};

/** As much of a snapshot as is needed here: a week of them is a lot to read. */
export interface Glimpsed {
  readonly takenAt: number;
  readonly totals: Pick<Totals, 'related' | 'zombies' | 'rss' | 'swap'>;
  readonly processes: readonly GlimpsedProcess[];
  readonly findings: readonly (Pick<Finding, 'id' | 'processes' | 'files' | 'title'> & {
    readonly severity?: Finding['severity'];
  })[];
  readonly heartbeats: readonly GlimpsedHeartbeat[];
  readonly tmux: readonly (Pick<TmuxServer, 'socket'> & {
    readonly panes: readonly Pick<TmuxServer['panes'][number], 'sessionId'>[];
  })[];
}

type GlimpsedHeartbeat = Pick<Heartbeat, 'path' | 'format' | 'state' | 'sessionId'> & {
  /** Recordings of older versions have none. */
  readonly status?: Heartbeat['status'];
};

const lastPart = (path: string | null): string | null =>
  path?.split('/').findLast(part => part !== '') ?? null;

/** What a file on disk says may have been written by anybody, and these two are shown. */
const shown = (text: string | null): string | null => (text === null ? null : visible(text));

const seen = (p: GlimpsedProcess): SeenProcess => ({
  key: keyOf(p.facts),
  kind: p.kind,
  agent: shown(p.agent),
  project: shown(lastPart(p.facts.details?.cwd ?? null)),
  memory: memoryOf(p.facts),
});

/** The seeds' skills: an agent that cannot finish returns what it has, or fails, or is never heard of again. */
const RESULTS: Readonly<Record<string, 'partial' | 'none'>> = {
  partial: 'partial',
  failed: 'none',
  blocked: 'none',
};

const resultOf = ({
  format,
  status = null,
  state,
  path,
  sessionId,
}: GlimpsedHeartbeat): Glimpse['results'] => {
  if (format !== ('return-meta' satisfies ReadingFormat) || status === null) return [];
  const result = status === 'in_progress' && state === 'leftover' ? 'none' : RESULTS[status];
  return result === undefined ? [] : [{ key: `${path} ${sessionId ?? ''}`, result }];
};

/** What a report needs of a moment: a week of them fits into memory, a week of snapshots does not. */
export const glimpseOf = (snapshot: Glimpsed): Glimpse => {
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
    hungCalls: running.flatMap(p =>
      (p.session?.calls ?? [])
        .filter(({ hung }) => hung === true)
        .map(({ id, tool, server, startedAt }) => ({
          id,
          tool: visible(tool),
          server: shown(server),
          seconds: Math.max(0, snapshot.takenAt - (startedAt ?? snapshot.takenAt)) / 1000,
        })),
    ),
    // A call that is merely slow is no hang.
    findings: snapshot.findings
      .filter(({ id, severity }) => id !== 'call-hung' || severity !== 'info')
      .map(finding => ({ id: finding.id, about: aboutOf(finding) })),
  };
};
