import type { Identity } from './identity.ts';

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

export interface Step extends Identity {
  readonly name: string;
  readonly command: string;
  readonly signal: SignalName;
  /** RSS + swap that ending it gives back. */
  readonly rss: number;
  readonly ageSeconds: number | null;
  readonly why: string;
  /** The target whose subtree or lineage it belongs to. */
  readonly root: Identity;
  readonly stopped: boolean;
  /** Soft-protected: the user must type the pid to confirm. */
  readonly confirm: boolean;
}

export interface Refusal extends Identity {
  readonly name: string;
  readonly why: string;
}

/** What a clean-up would signal, in order, what it refuses and why, and how many bytes come back. */
export interface Plan {
  /** Leaves first. */
  readonly steps: readonly Step[];
  readonly refused: readonly Refusal[];
  readonly files: readonly string[];
  readonly bytes: number;
}

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
}
