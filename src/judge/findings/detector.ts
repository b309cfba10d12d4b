import type { Config } from '../../model/config.ts';
import type { Finding } from '../../model/finding.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import type { Observation } from '../../model/observation.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import type { JudgedFiles } from '../heartbeats/index.ts';
import type { Past } from '../past.ts';

export interface Scene {
  readonly observation: Observation;
  readonly config: Config;
  readonly past: Past;
  /** Related processes, judged, parents before children. */
  readonly processes: readonly JudgedProcess[];
  readonly heartbeats: readonly Heartbeat[];
  /** What the files of agents say, joined to what runs. */
  readonly files: JudgedFiles;
}

/** One thing to look for. Pure: a scene in, findings out. */
export type Detector = (scene: Scene) => readonly Finding[];
