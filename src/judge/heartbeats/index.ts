import { FORMATS, formatOf } from '../../agents/files/formats.ts';
import type { Config } from '../../model/config.ts';
import { forestOf } from '../../model/forest.ts';
import { type Heartbeat, type HeartbeatState, isReadingFormat, type Reading } from '../../model/heartbeat.ts';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { ClaudeSession, TmuxServer } from '../../model/observation.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import { NO_PAST, type Past } from '../past.ts';
import type { FileContext } from './context.ts';
import { indexFiles } from './file-index.ts';
import { type JoinedReading, joinReadings } from './join.ts';
import { withOneOwner } from './one-owner.ts';
import { orchestratedAgents } from './orchestrated.ts';
import { vitalsOf } from './signs-of-life.ts';
import { type FileState, stateOf } from './state.ts';

export interface FilesInput {
  readonly readings: readonly Reading[];
  /** Related processes, parents before children. */
  readonly processes: readonly JudgedProcess[];
  readonly tmux: readonly TmuxServer[];
  readonly sessions: readonly ClaudeSession[];
  readonly config: Config;
  readonly past?: Past | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface JudgedFile extends JoinedReading, FileState {}

/** What the files say, joined to what runs: for the Heartbeats panel, the findings and `sweep`. */
export interface JudgedFiles extends Omit<FileContext, 'joined'> {
  readonly joined: readonly JudgedFile[];
  readonly heartbeats: readonly Heartbeat[];
}

const ORDER = [
  'critical',
  'warn',
  'unreadable',
  'fine',
  'leftover',
] as const satisfies readonly HeartbeatState[];

const toHeartbeat = ({ reading, ageSeconds, agent, state, reason }: JudgedFile): Heartbeat => ({
  path: reading.path,
  format: reading.source ?? reading.format,
  state,
  reason,
  ageSeconds,
  sessionId: reading.sessionId,
  task: reading.task ?? reading.agentId,
  phase: reading.phase,
  operation: reading.operation,
  proof: reading.proof,
  status: reading.status,
  counters: reading.counters,
  agent: agent === null ? null : identityOf(agent),
});

/** Readings in, judged and joined files out; heartbeats worst first. */
export const judgeFiles = (input: FilesInput): JudgedFiles => {
  const { readings, processes, sessions, tmux, config, past = NO_PAST, now } = input;
  const joined = withOneOwner(joinReadings({ readings, processes, sessions, now }));
  const orchestrated = orchestratedAgents(joined, processes, tmux);
  const agentByPath = new Map(orchestrated.flatMap(agent => agent.files.map(f => [f.reading.path, agent])));
  const index = indexFiles(joined);
  const forest = forestOf(processes, p => p.facts);
  const vitals = vitalsOf(index, forest, past);
  const context: FileContext = {
    joined,
    index,
    orchestrated,
    agentByPath,
    processes,
    forest,
    sessions,
    vitals,
    config,
    past,
    now,
  };
  const judged = joined.map((file): JudgedFile => {
    const { state, reason } = stateOf(file, context);
    const { reading, ageSeconds, agent, candidates, how } = file;
    return { reading, ageSeconds, agent, candidates, how, state, reason };
  });
  const heartbeats = judged
    .filter(file => formatOf(file.reading).shown)
    .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))
    .map(toHeartbeat);
  return { ...context, joined: judged, heartbeats };
};

/** More formats than there are: a format that tells nothing more comes last. */
const NOT_TELLING = 99;

const rank = (beat: Heartbeat): number => {
  const telling = isReadingFormat(beat.format) ? FORMATS[beat.format].telling : null;
  return ORDER.indexOf(beat.state) * 100 + (telling ?? NOT_TELLING);
};

/** For each agent the one heartbeat worth showing on its row: the worst, then the most telling. */
export const beatOnRow = (heartbeats: readonly Heartbeat[]): ReadonlyMap<IdentityKey, Heartbeat> => {
  const chosen = new Map<IdentityKey, Heartbeat>();
  for (const beat of heartbeats) {
    if (beat.agent === null || beat.state === 'leftover') continue;
    const key = keyOf(beat.agent);
    const known = chosen.get(key);
    if (known === undefined || rank(beat) < rank(known)) chosen.set(key, beat);
  }
  return chosen;
};
