import { formatOf } from '../../agents/files/formats.ts';
import type { Config } from '../../model/config.ts';
import { type Forest, pushTo } from '../../model/forest.ts';
import type { ReadingFormat } from '../../model/heartbeat.ts';
import { keyOf } from '../../model/identity.ts';
import type { ClaudeSession } from '../../model/observation.ts';
import { directoryOf } from '../../model/path.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import type { Past } from '../history.ts';
import type { JoinedReading } from './join.ts';
import type { OrchestratedAgent } from './orchestrated.ts';

export type Life =
  /** Something moved within the limit. */
  | 'moving'
  /** Everything that can be seen stood still for the limit, CPU included. */
  | 'still'
  /** Nothing is seen to move, but not everything can be seen: no accusation rests on that. */
  | 'unknown';

/** Seconds since anything in the agent's subtree used CPU; null when one of them is not known. */
const quietCpu = (agent: JudgedProcess, forest: Forest<JudgedProcess>, past: Past): number | null => {
  const members = forest.subtreeOf(agent);
  if (members.some(p => (p.facts.cpu ?? 0) >= 1)) return 0;
  const quiet = members.map(p => past.quietSeconds(keyOf(p.facts)));
  return quiet.some(seconds => seconds === null) ? null : Math.min(...(quiet as number[]));
};

/** When an agent was last seen to do something, in seconds; null: it cannot be seen. */
export interface Vitals {
  readonly beatSeconds: number | null;
  readonly cpuSeconds: number | null;
}

const newestBeat = (agent: JudgedProcess, index: FileIndex): number | null => {
  let newest: number | null = null;
  for (const { reading, ageSeconds } of index.about(agent))
    if (formatOf(reading).signOfLife !== null && ageSeconds !== null && ageSeconds < (newest ?? Infinity))
      newest = ageSeconds;
  return newest;
};

/** What an agent's heartbeats, transcript and CPU tell, for one look. */
export const vitalsOf = (
  index: FileIndex,
  forest: Forest<JudgedProcess>,
  past: Past,
): ((agent: JudgedProcess) => Vitals) => {
  const known = new Map<JudgedProcess, Vitals>();
  return agent => {
    const vitals = known.get(agent) ?? {
      beatSeconds: newestBeat(agent, index),
      cpuSeconds: quietCpu(agent, forest, past),
    };
    known.set(agent, vitals);
    return vitals;
  };
};

/** What an agent's signs of life say about the last `seconds`. */
export const lifeOf = ({ beatSeconds, cpuSeconds }: Vitals, seconds: number): Life => {
  if (beatSeconds !== null && beatSeconds < seconds) return 'moving';
  if (cpuSeconds === null) return 'unknown';
  return cpuSeconds >= seconds ? 'still' : 'moving';
};

/**
 * The joined files by what others ask for. A project may hold thousands of task directories: whoever
 * looks through all files for each of them takes minutes where one pass takes milliseconds.
 */
export interface FileIndex {
  inDirectory(directory: string): readonly JoinedReading[];
  ofFormat(format: ReadingFormat): readonly JoinedReading[];
  /** Files that may speak of this agent. */
  about(agent: JudgedProcess): readonly JoinedReading[];
}

const NONE: readonly JoinedReading[] = [];

export const indexFiles = (joined: readonly JoinedReading[]): FileIndex => {
  const directories = new Map<string, JoinedReading[]>();
  const formats = new Map<ReadingFormat, JoinedReading[]>();
  const agents = new Map<JudgedProcess, JoinedReading[]>();
  for (const file of joined) {
    pushTo(directories, directoryOf(file.reading.path), file);
    pushTo(formats, file.reading.format, file);
    for (const agent of file.candidates) pushTo(agents, agent, file);
  }
  return {
    inDirectory: directory => directories.get(directory) ?? NONE,
    ofFormat: format => formats.get(format) ?? NONE,
    about: agent => agents.get(agent) ?? NONE,
  };
};

/** Everything a file is judged by. */
export interface FileContext {
  readonly joined: readonly JoinedReading[];
  readonly index: FileIndex;
  readonly orchestrated: readonly OrchestratedAgent[];
  readonly agentByPath: ReadonlyMap<string, OrchestratedAgent>;
  readonly processes: readonly JudgedProcess[];
  readonly forest: Forest<JudgedProcess>;
  /** Worked out once per agent, however many files ask. */
  readonly vitals: (agent: JudgedProcess) => Vitals;
  readonly sessions: readonly ClaudeSession[];
  readonly config: Config;
  readonly past: Past;
  readonly now: number;
}

/** The orchestrated agent a file belongs to. */
export const agentOfFile = (file: JoinedReading, context: FileContext): OrchestratedAgent | null =>
  context.agentByPath.get(file.reading.path) ?? null;
