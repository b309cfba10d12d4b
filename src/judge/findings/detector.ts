import type { Config } from '../../model/config.ts';
import type { Finding } from '../../model/finding.ts';
import type { Heartbeat } from '../../model/heartbeat.ts';
import type { IdentityKey } from '../../model/identity.ts';
import type { JudgedProcess, Observation } from '../../model/snapshot.ts';
import type { JudgedFiles } from '../heartbeats/index.ts';

/** What earlier samples told: filled by the engine, empty for a single look. */
export interface Past {
  /** Seconds for which a process has been in its present state; null when not known. */
  stateSeconds(key: IdentityKey): number | null;
  /** Memory over time, oldest first; at most ten minutes of it. */
  memory(
    key: IdentityKey,
  ): readonly { readonly at: number; readonly bytes: number; readonly cpu: number | null }[];
  /** Seconds since a process last used CPU while we watched; null when not known. */
  quietSeconds(key: IdentityKey): number | null;
}

export const NO_PAST: Past = { stateSeconds: () => null, memory: () => [], quietSeconds: () => null };

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
