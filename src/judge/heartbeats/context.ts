import type { Config } from '../../model/config.ts';
import type { Forest } from '../../model/forest.ts';
import type { ClaudeSession } from '../../model/observation.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import type { Past } from '../past.ts';
import type { FileIndex } from './file-index.ts';
import type { JoinedReading } from './join.ts';
import type { OrchestratedAgent } from './orchestrated.ts';
import type { Vitals } from './signs-of-life.ts';

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
