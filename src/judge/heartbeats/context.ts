import type { Config } from '../../model/config.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import type { Past } from '../past.ts';
import type { JoinedReading } from './join.ts';
import type { OrchestratedAgent } from './orchestrated.ts';

/** Everything a file is judged by. */
export interface FileContext {
  readonly joined: readonly JoinedReading[];
  readonly orchestrated: readonly OrchestratedAgent[];
  readonly agentByPath: ReadonlyMap<string, OrchestratedAgent>;
  readonly processes: readonly JudgedProcess[];
  readonly config: Config;
  readonly past: Past;
  readonly now: number;
}

export const directoryOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

/** The orchestrated agent a file belongs to. */
export const agentOfFile = (file: JoinedReading, context: FileContext): OrchestratedAgent | null =>
  context.agentByPath.get(file.reading.path) ?? null;
