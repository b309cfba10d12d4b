import type { Config } from '../../model/config.ts';
import type { Finding } from '../../model/finding.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import type { Observation } from '../../model/observation.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import type { JudgedFiles } from '../heartbeats/judge-files.ts';
import type { Past } from '../history.ts';

export interface FindingContext {
  readonly observation: Observation;
  readonly config: Config;
  readonly past: Past;
  /** Related processes, judged, parents before children. */
  readonly processes: readonly JudgedProcess[];
  readonly heartbeats: readonly Heartbeat[];
  /** What the files of agents say, joined to what runs. */
  readonly files: JudgedFiles;
}

/** One thing to look for. Pure: a context in, findings out. */
export type Detector = (context: FindingContext) => readonly Finding[];
