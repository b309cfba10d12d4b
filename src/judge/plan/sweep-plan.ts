import { FORMATS } from '../../agents/files/formats.ts';
import type { Plan, TmuxTarget } from '../../model/plan.ts';
import { parseIso } from '../../model/time.ts';
import type { JudgedFiles } from '../heartbeats/judge-files.ts';
import type { PlanInput } from './compose.ts';

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
export interface SweepRequest extends PlanInput {
  readonly files: JudgedFiles;
  readonly facts: SweepFacts;
  readonly retentionDays: number;
  /** How long the session of a finished agent must have been still; ten minutes unless it is said. */
  readonly stillSeconds?: number | undefined;
}

/** A rule for names as part of a pattern. */
const sourceOf = (rule: string | RegExp): string =>
  typeof rule === 'string'
    ? rule.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    : rule.source.replace(/^\^|\$$/g, '');

const NAMES = [
  ...new Set(
    Object.values(FORMATS)
      .filter(({ sweepAction }) => sweepAction === 'archive')
      .flatMap(({ locations }) => locations.map(([, rule]) => sourceOf(rule))),
  ),
].join('|');

/** What we, or the orchestrator, put into an archive; anything else in there is not ours to expire. */
const ARCHIVED = new RegExp(`^(?:${NAMES})(?:\\.\\d+)?(?:\\.archived-(?<time>\\d{8}T\\d{6}Z)(?:\\.\\d+)?)?$`);

export const isArchivedName = (name: string): boolean => ARCHIVED.test(name);

/** A name that says when it was archived: neither its mtime nor a copy of it does. */
export const archivedName = (name: string, now: number): string =>
  `${name}.archived-${new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')}`;

/** Epoch milliseconds; null: the name does not say, or names a time that has not come. */
export const archivedAt = (name: string, now: number): number | null => {
  const time = ARCHIVED.exec(name)?.groups?.time;
  const at = time === undefined ? null : parseIso(time);
  return at !== null && at <= now ? at : null;
};
