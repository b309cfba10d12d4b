import type { Plan, TmuxTarget } from '../../model/plan.ts';

/** What a file looked like when the plan was made; anything else now means hands off. */
export interface FileSeen {
  readonly mtimeMs: number;
  readonly size: number;
  /** Device and inode: a name can be given to another file. */
  readonly file: string;
  readonly directory: string;
}

export interface FileAct {
  /** archive: move beside; delete: a prompt; remove: a lock, marker or guard; expire: an archive past retention. */
  readonly act: 'archive' | 'delete' | 'remove' | 'expire';
  readonly path: string;
  /** The directory an archived file goes to; null for every other act. */
  readonly to: string | null;
  /** Device and inode of the directory in which `to` lies or will be made. */
  readonly toWithin: string | null;
  readonly root: string;
  readonly bytes: number;
  readonly why: string;
  /** The orchestrated agent it belongs to; its session must have ended first. */
  readonly agent: string | null;
  readonly seen: FileSeen;
}

export interface SessionAct extends TmuxTarget {
  readonly agent: string;
  /** Identity keys of everything in it that is to end first. */
  readonly processes: readonly string[];
  readonly why: string;
}

export interface SweepRefusal {
  /** An agent or a path. */
  readonly what: string;
  readonly why: string;
}

/** What a sweep would end, move and remove; a dry run prints this very plan. */
export interface SweepPlan {
  /** Processes of the sessions of finished agents. */
  readonly ending: Plan;
  readonly sessions: readonly SessionAct[];
  readonly files: readonly FileAct[];
  readonly refused: readonly SweepRefusal[];
  /** Bytes on disk that go to archives, and that are given back. */
  readonly archivedBytes: number;
  readonly freedBytes: number;
}

const bytesOf = (files: readonly FileAct[]): number => files.reduce((sum, file) => sum + file.bytes, 0);

export const sweepBytes = (files: readonly FileAct[]): Pick<SweepPlan, 'archivedBytes' | 'freedBytes'> => ({
  archivedBytes: bytesOf(files.filter(file => file.act === 'archive')),
  freedBytes: bytesOf(files.filter(file => file.act !== 'archive')),
});

/** The plan as `--json` and the audit log show it. */
export const asPlan = (plan: SweepPlan): Plan => ({
  ...plan.ending,
  files: plan.files.map(file => file.path),
  bytes: plan.ending.bytes,
});
