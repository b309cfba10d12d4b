import { FORMATS, formatOf } from '../../agents/files/formats.ts';
import type { Config } from '../../model/config.ts';
import { forestOf, pushTo } from '../../model/forest.ts';
import { type Heartbeat, type HeartbeatState, isReadingFormat, type Reading } from '../../model/heartbeat.ts';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { ClaudeSession, TmuxServer } from '../../model/observation.ts';
import { directoryOf } from '../../model/path.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import { NO_PAST, type Past } from '../history.ts';
import { type JoinedReading, joinReadings, youngest } from './join.ts';
import { orchestratedAgents } from './orchestrated.ts';
import { type FileContext, indexFiles, vitalsOf } from './signs-of-life.ts';
import { type FileState, stateOf } from './staleness.ts';

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
    .filter(file => formatOf(file.reading).inHeartbeatsPanel)
    .sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))
    .map(toHeartbeat);
  return { ...context, joined: judged, heartbeats };
};

/** More formats than there are: a format that tells nothing more comes last. */
const NOT_TELLING = 99;

const rank = (beat: Heartbeat): number => {
  const telling = isReadingFormat(beat.format) ? FORMATS[beat.format].activityRank : null;
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

/** From the surest way of knowing to the least sure. */
const WAYS = ['pid', 'session', 'environ', 'tmux', 'path'] as const;

/** The task that a file is kept for, by its directory; null: it is kept for no single task. */
const taskDirectoryOf = (reading: Reading): string | null => {
  const { belongsTo } = formatOf(reading);
  if (belongsTo === 'task-of-directory') return directoryOf(reading.path);
  return belongsTo === 'task-of-parent-directory' ? directoryOf(directoryOf(reading.path)) : null;
};

/** Files with a directory or a session id in common, directly or through one another. */
const families = (files: readonly JoinedReading[]): JoinedReading[][] => {
  const parents = new Map<string, string>();
  const top = (key: string): string => {
    let at = key;
    for (let up = parents.get(at); up !== undefined && up !== at; up = parents.get(at)) {
      parents.set(at, parents.get(up) ?? up);
      at = up;
    }
    return at;
  };
  const homeOf = ({ reading }: JoinedReading): string => `in ${taskDirectoryOf(reading)}`;
  for (const file of files)
    if (file.reading.sessionId !== null) parents.set(top(homeOf(file)), top(`of ${file.reading.sessionId}`));
  const found = new Map<string, JoinedReading[]>();
  for (const file of files) pushTo(found, top(homeOf(file)), file);
  return [...found.values()];
};

/** The agents that the surest of these files speak of. */
const ownersOf = (files: readonly JoinedReading[]): Pick<JoinedReading, 'how' | 'agent' | 'candidates'> => {
  const how = WAYS.find(way => files.some(file => file.how === way)) ?? null;
  const known = new Set<JudgedProcess>(
    files.filter(file => how !== null && file.how === how).flatMap(file => file.candidates),
  );
  const candidates = [...known];
  return { how, candidates, agent: youngest(candidates) };
};

/**
 * Progress file, marker, lock and guard of one task directory, or of one session id, have one owner: a
 * lock is empty and a guard is a bare number, but the progress file beside them may say whose they are.
 */
export const withOneOwner = (joined: readonly JoinedReading[]): readonly JoinedReading[] => {
  const owners = new Map<JoinedReading, JoinedReading>();
  for (const family of families(joined.filter(file => taskDirectoryOf(file.reading) !== null))) {
    if (family.length < 2) continue;
    const shared = ownersOf(family);
    if (shared.how !== null) for (const file of family) owners.set(file, { ...file, ...shared });
  }
  return owners.size === 0 ? joined : joined.map(file => owners.get(file) ?? file);
};
