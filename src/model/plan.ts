import { spellBytes } from './format.ts';
import { type Identity, keyOf } from './identity.ts';
import type { Kind } from './kind.ts';
import type { Verdict } from './snapshot.ts';

/** Signals a plan may name. CHLD is the nudge for a parent that owes a wait. */
export type SignalName =
  | 'SIGTERM'
  | 'SIGKILL'
  | 'SIGCONT'
  | 'SIGSTOP'
  | 'SIGINT'
  | 'SIGHUP'
  | 'SIGQUIT'
  | 'SIGUSR1'
  | 'SIGUSR2'
  | 'SIGCHLD';

/** Who asks for a plan; goes into the audit log. */
export const ASKED_BY = ['tui', 'clean', 'guard', 'hook', 'sweep'] as const;
export type AskedBy = (typeof ASKED_BY)[number];

/** What a plan may touch. Hard protection is in no policy: nobody can switch it off. */
export interface EndPolicy {
  readonly by: AskedBy;
  readonly signal: SignalName;
  /** Verdicts a target may have. With `live` among them, live members are taken too. */
  readonly verdicts: readonly Verdict[];
  /** A person reads this plan and may end soft-protected processes, each after typing its pid. */
  readonly allowSoft: boolean;
  /** A target must be at least this old. Its members need not be. */
  readonly minimumAgeSeconds: number;
}

/** Who a process was when the plan was made: for the record, and to notice when that changes. */
export interface Subject {
  readonly kind: Kind;
  readonly agent: string | null;
  readonly verdict: Verdict;
  /** The session that owns it. */
  readonly session: string | null;
  readonly cwd: string | null;
}

export interface Step extends Identity {
  readonly name: string;
  readonly command: string;
  readonly signal: SignalName;
  /** RSS + swap that ending it gives back, what it shares with others included. */
  readonly rss: number;
  /** Its own share of that (PSS); null or absent when it could not be read. */
  readonly pss?: number | null | undefined;
  readonly ageSeconds: number | null;
  readonly why: string;
  /** The target whose subtree or lineage it belongs to. */
  readonly root: Identity;
  readonly stopped: boolean;
  /** Soft-protected: the user must type the pid to confirm. */
  readonly confirm: boolean;
  readonly subject?: Subject | undefined;
}

export interface Refusal extends Identity {
  readonly name: string;
  readonly why: string;
}

export const CHORES = ['archive', 'delete', 'remove', 'expire', 'end-session', 'claude-stop'] as const;

/** What a plan does that is no signal: to a file, to a tmux session, or through an agent's own command. */
export interface Chore {
  readonly act: (typeof CHORES)[number];
  /** A path, the name of a tmux session, the id of a job. */
  readonly target: string;
  readonly why: string;
}

/** What really became of it. */
export interface ChoreOutcome extends Chore {
  readonly outcome: 'done' | 'gone' | 'skipped' | 'failed';
}

/** What a clean-up would signal, in order, what it refuses and why, and how many bytes come back. */
export interface Plan {
  /** Leaves first. */
  readonly steps: readonly Step[];
  readonly refused: readonly Refusal[];
  readonly files: readonly string[];
  readonly bytes: number;
  /** After the steps. */
  readonly chores?: readonly Chore[] | undefined;
  /** Files and agents that are not touched. */
  readonly leftAlone?: readonly { readonly what: string; readonly why: string }[] | undefined;
  /** What it was made by: targets are held against it once more right before the first signal. */
  readonly policy?: EndPolicy | undefined;
}

/** Whether running it would do anything at all. */
export const doesNothing = ({ steps, chores = [] }: Pick<Plan, 'steps' | 'chores'>): boolean =>
  steps.length + chores.length === 0;

/** What ending it gives back, as well as that is known. */
export const weightOf = ({ pss, rss }: Pick<Step, 'pss' | 'rss'>): number => pss ?? rss;

export const bytesBack = (steps: readonly Step[]): number =>
  steps.reduce((sum, step) => sum + weightOf(step), 0);

/** Some of it may be shared with others, and does not come back. */
export const isAbout = ({ pss, rss }: Pick<Step, 'pss' | 'rss'>): boolean =>
  rss > 0 && typeof pss !== 'number';

/** `about 3.1 GiB`. */
export const spellBack = ({ steps, bytes }: Pick<Plan, 'steps' | 'bytes'>): string =>
  `${steps.some(isAbout) ? 'about ' : ''}${spellBytes(bytes)}`;

/** How long a process may take to end after SIGTERM, before SIGKILL. */
export const DEFAULT_GRACE_MS = 5000;

/** `clean` leaves younger leaks alone unless it is told otherwise. */
export const CLEAN_AGE_MINUTES = 60;

export const EMPTY_PLAN: Plan = { steps: [], refused: [], files: [], bytes: 0 };

/** A tmux session that is to end. */
export interface TmuxTarget {
  /** Path of the server's socket. */
  readonly socket: string;
  /** `$3`: exact and never reused while the server runs, unlike a name, of which tmux accepts prefixes. */
  readonly sessionId: string;
  readonly session: string;
}

export const OUTCOMES = [
  'ended',
  'killed',
  'gone',
  'zombie',
  'respawned',
  'survived',
  'refused',
  'denied',
] as const;
export type OutcomeKind = (typeof OUTCOMES)[number];

/** What really happened to one identity, verified; never what was intended. */
export interface Outcome extends Identity {
  readonly name: string;
  readonly outcome: OutcomeKind;
  readonly why: string;
  readonly freed: number;
  /** `freed` counts what it shared with others. */
  readonly about?: boolean;
}

export const outcomeOf = (step: Identity, outcomes: readonly Outcome[]): Outcome | null =>
  outcomes.find(outcome => keyOf(outcome) === keyOf(step)) ?? null;

/**
 * The pids that must be typed: one per tree that holds a soft-protected process. The tree's root stands
 * for its members when it is protected itself.
 */
export const pidsToType = ({ steps }: Plan): readonly number[] => {
  const guarded = steps.filter(step => step.confirm);
  const roots = new Set(guarded.filter(step => step.pid === step.root.pid).map(step => step.pid));
  return [...new Set(guarded.map(step => (roots.has(step.root.pid) ? step.root.pid : step.pid)))];
};

/** What a plan says besides its steps, as JSON and the audit log have it. */
export const planRest = ({ refused, files, bytes }: Plan) => ({
  refused: refused.map(({ pid, start, name, why }) => ({ pid, start, name, why })),
  files,
  bytes,
});
