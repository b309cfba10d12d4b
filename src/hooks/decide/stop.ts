import { fromRepository } from './answers.ts';

/** What is known of the marker of this session when it wants to stop. Times are seconds. */
export interface MarkerFacts {
  readonly ageSeconds: number;
  readonly reason: string | null;
  /** The documented way out: the marker itself says that the stop is to be allowed. */
  readonly wayOut: boolean;
  /** What the loop guard's file says; null: there is none, or it holds no number. */
  readonly guard: number | null;
  /** How often this session was blocked for this very marker. */
  readonly blocked: number;
  /** Nothing in the task directory has changed since the last block. */
  readonly still: boolean;
}

export interface StopFacts {
  /** The seeds' own hook decides here. */
  readonly standDown: boolean;
  /** The marker that is ours; null: none is. */
  readonly marker: MarkerFacts | null;
  /** It may be removed: the task is this session's own work. */
  readonly own: boolean;
  /** Stops of this session, or of this subagent, that were blocked one after the other up to now. */
  readonly inARow: number;
  /** The guard's file and our own count can be written: what cannot be counted is not blocked. */
  readonly countable: boolean;
  readonly deadlockSeconds: number;
}

export type StopDecision =
  | { readonly what: 'allow'; readonly remove: boolean; readonly why: string }
  | { readonly what: 'block'; readonly reason: string; readonly guard: number };

/** The seeds' MAX_CONTINUATIONS. */
export const MOST_BLOCKS = 3;

const REASON =
  'reaptop: Postflight pending: the work after this agent is not done yet. Finish it, remove the marker, then stop.';

const allow = (why: string, remove = false): StopDecision => ({ what: 'allow', remove, why });

/**
 * The seeds' postflight: a stop is blocked until the marker is gone, three times at most, and not at all when nothing
 * moves any more. Whatever the files say, three blocks in a row are the end of it.
 */
export const decideStop = ({
  standDown,
  marker,
  own,
  inARow,
  countable,
  deadlockSeconds,
}: StopFacts): StopDecision => {
  if (standDown) return allow("the project's own postflight hook decides");
  if (marker === null) return allow('no postflight marker of this session');
  if (marker.wayOut) return allow('the marker says stop_hook_active', own);
  const counted = Math.max(marker.guard ?? 0, marker.blocked);
  if (counted >= MOST_BLOCKS) return allow(`loop guard: blocked ${counted} times`, own);
  if (inARow >= MOST_BLOCKS) return allow(`blocked ${inARow} times in a row`, own);
  if (counted >= 1 && marker.still && marker.ageSeconds >= deadlockSeconds)
    return allow(
      `stuck: the marker is ${Math.round(marker.ageSeconds)} s old and nothing has changed since the last block`,
      own,
    );
  if (!countable) return allow('the loop guard cannot be written, so nothing is blocked');
  return { what: 'block', reason: fromRepository(REASON, marker.reason), guard: counted + 1 };
};

/** A marker that may be the stopping session's. Times are epoch milliseconds. */
export interface FoundMarker {
  readonly path: string;
  /** The directory it lies in. */
  readonly directory: string;
  readonly madeAt: number;
}

/** Linux stamps files by a clock that stands still for up to 10 ms: a file made right after a moment may bear an earlier one. */
const FILE_CLOCK_MS = 10;

/**
 * Which marker a stop is blocked for: one whose directory the session named, the last named first; else the newest that
 * was made after it started, if no other session is at work in the project. `own`: it may be removed too, because the
 * session was started for that task, wrote to it, or is the only one that can have made it.
 */
export const ownMarker = <M extends FoundMarker>(
  markers: readonly M[],
  session: {
    readonly tasks: readonly string[];
    readonly works: readonly string[];
    readonly startedAt: number;
  },
  isAlone: () => boolean,
): { readonly marker: M; readonly own: boolean } | null => {
  if (markers.length === 0) return null;
  const isMade = ({ madeAt }: M): boolean => madeAt >= session.startedAt - FILE_CLOCK_MS;
  for (const task of session.tasks.toReversed()) {
    const marker = markers.find(({ directory }) => directory === task);
    if (marker !== undefined)
      return { marker, own: session.works.includes(task) || (isMade(marker) && isAlone()) };
  }
  const [marker] = markers.filter(isMade).toSorted((a, b) => b.madeAt - a.madeAt);
  return marker !== undefined && isAlone() ? { marker, own: true } : null;
};

/** What a postflight marker says that decides about a stop. */
export interface MarkerText {
  readonly reason: string | null;
  readonly wayOut: boolean;
  /** As written; parsed by the caller. */
  readonly created: string | null;
}

const NOT_FILLED_IN = /^\$\{?\w+\}?$/;

const worded = (value: unknown): string | null => {
  const text = typeof value === 'string' ? value.trim() : '';
  return text === '' || text === 'null' || NOT_FILLED_IN.test(text) ? null : text;
};

/** Many markers come from a heredoc that was never filled in and are no JSON: their plain pairs still tell. */
const pair = (text: string, name: string): string | null =>
  worded(new RegExp(`"${name}"\\s*:\\s*"([^"\\\\]{0,400})"`).exec(text)?.[1]);

export const readMarker = (text: string): MarkerText => {
  // The seeds' hook looks for these very letters, in JSON or not.
  const wayOut = text.includes('"stop_hook_active": true');
  try {
    const value: unknown = JSON.parse(text);
    const fields = (typeof value === 'object' && value !== null ? value : {}) as Readonly<
      Record<string, unknown>
    >;
    return {
      reason: worded(fields.reason),
      wayOut: wayOut || fields.stop_hook_active === true,
      created: worded(fields.created),
    };
  } catch {
    return { reason: pair(text, 'reason'), wayOut, created: pair(text, 'created') };
  }
};

/** The loop guard is a bare number; null for anything else. */
export const readGuard = (text: string): number | null => {
  const digits = /^\s*(\d{1,9})\s*$/.exec(text)?.[1];
  return digits === undefined ? null : Number(digits);
};
