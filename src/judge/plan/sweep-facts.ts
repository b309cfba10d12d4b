import type { JudgedFiles } from '../heartbeats/index.ts';
import type { PlanGround } from './branches.ts';
import type { FileSeen } from './sweep-plan.ts';

export interface ArchivedFile {
  readonly path: string;
  readonly root: string;
  /** Epoch milliseconds: when it was put there, not when it was last written. */
  readonly archivedAt: number;
  readonly seen: FileSeen;
}

/** What planning a sweep must know about the disk, beyond the readings. */
export interface SweepFacts {
  /** Every file that may be touched, as it was when it was looked at. */
  readonly seen: ReadonlyMap<string, FileSeen>;
  /** Why a path must not be touched. */
  readonly unsafe: ReadonlyMap<string, string>;
  /** Files that changed while we watched. */
  readonly growing: ReadonlySet<string>;
  /** Which directory an archive would be in, by its path. */
  readonly directories: ReadonlyMap<string, string>;
  readonly archives: readonly ArchivedFile[];
}

/** The snapshot holds every process (`all`): the shell of a pane is to be ended too. */
export interface SweepRequest extends PlanGround {
  readonly files: JudgedFiles;
  readonly facts: SweepFacts;
  readonly retentionDays: number;
  /** How long the session of a finished agent must have been still; ten minutes unless it is said. */
  readonly stillSeconds?: number | undefined;
}
