import type { FileFinding } from '../../model/config.ts';
import type { ReadingFormat } from '../../model/heartbeat.ts';
import type { Place } from './places.ts';
import type { Reader } from './reader.ts';

/** How a file is read: which part of it, and by whom. */
export interface HowRead {
  readonly part: 'head' | 'tail' | 'none';
  readonly read: Reader;
}

/** Why a file of finished or vanished work is of no more use. */
export type LeftOverWhen =
  /** Its orchestrated agent is finished, or nobody speaks for it any more. */
  | 'abandoned'
  /** It says itself that its work is over. */
  | 'says-so'
  /** What lies beside it says that its task is over. */
  | 'task-over';

/** Everything the product knows of one file format. */
export interface FileFormat {
  /** null: no file of our places. A transcript is never read; a user's source says itself how it is. */
  readonly reader: HowRead | null;
  /** The kinds of directory it lies in, and its name there. */
  readonly lies: readonly (readonly [Place, string | RegExp])[];
  /** What it speaks of when it names no process and no session. */
  readonly joins:
    | 'agent' // the one it is named after, and no other
    | 'task-here' // the one at work on the task whose directory it lies in
    | 'task-above' // the same, one directory deeper
    | 'project';
  /** How its project is known: by its place, by what it states, or it is the root itself. */
  readonly project: 'place' | 'stated' | 'root';
  /** What its age counts from: its last sign of life, or what it marks. */
  readonly aged: 'sign' | 'creation';
  /** A file that its agent keeps up to date while it works, for a task, by an orchestrated agent, or for a session. */
  readonly signOfLife: 'task' | 'agent' | 'session' | null;
  /** Whose thresholds say when it is worth a word; null: its age alone says nothing. */
  readonly limits: FileFinding | null;
  /** A file of the same agent that, while it grows, makes up for silence here. */
  readonly vouchedFor: ReadingFormat | null;
  /** In the Heartbeats panel. Files that are no sign of life matter for findings and `sweep` only. */
  readonly shown: boolean;
  /** How much it tells about what its agent is doing now: 1 tells most. null: not more than any other. */
  readonly telling: number | null;
  /** None: it is about a whole project or session, a document, or has a finding of its own. */
  readonly leftOver: readonly LeftOverWhen[];
  /** What becomes of it once its agent is finished; null: never touched. */
  readonly swept: 'archive' | 'delete' | 'remove' | null;
  /** What it says is acted on: about the agent it is named after, or about all agents of its task. */
  readonly evidence: 'agent' | 'task' | null;
}

/** What lies where work was done and says nothing of whether it goes on. */
export const NO_SIGN_OF_LIFE = {
  project: 'place',
  aged: 'sign',
  signOfLife: null,
  limits: null,
  vouchedFor: null,
  shown: false,
  telling: null,
} as const satisfies Partial<FileFormat>;
