import type { JudgedFiles } from '../heartbeats/index.ts';
import type { PlanGround } from './branches.ts';
import type { FileSeen } from './sweep-plan.ts';

export interface ArchivedFile extends FileSeen {
  readonly path: string;
  readonly root: string;
}

/** What planning a sweep must know about the disk, beyond the readings. */
export interface SweepFacts {
  /** Why a path must not be touched. */
  readonly unsafe: ReadonlyMap<string, string>;
  /** Files that changed while we watched. */
  readonly growing: ReadonlySet<string>;
  readonly archives: readonly ArchivedFile[];
}

/** The snapshot holds every process (`all`): the shell of a pane is to be ended too. */
export interface SweepRequest extends PlanGround {
  readonly files: JudgedFiles;
  readonly facts: SweepFacts;
  readonly retentionDays: number;
}
