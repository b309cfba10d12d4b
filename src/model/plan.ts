import type { WayBack } from './asleep.ts';
import type { Finding } from './finding.ts';
import { type Identity, keyOf } from './identity.ts';
import type { Kind } from './kind.ts';
import type { Verdict } from './snapshot.ts';
import { spellBytes } from './units.ts';

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

/** Signals that end a process unless it handles them. */
export const ENDING_SIGNALS: ReadonlySet<SignalName> = new Set([
  'SIGTERM',
  'SIGKILL',
  'SIGINT',
  'SIGHUP',
  'SIGQUIT',
]);

/** Who asks for a plan; goes into the audit log. */
export const ASKED_BY = ['tui', 'clean', 'guard', 'hook', 'sweep', 'sleep', 'wake'] as const;
export type AskedBy = (typeof ASKED_BY)[number];

/** What a plan may touch. Hard protection is not in a policy: it cannot be switched off. */
export interface EndPolicy {
  readonly by: AskedBy;
  readonly signal: SignalName;
  /** Verdicts a target may have. With `live` among them, live members are taken too. */
  readonly verdicts: readonly Verdict[];
  /** A person reads this plan and may end soft-protected processes, each after typing its pid. */
  readonly allowSoft: boolean;
  /** A target must be at least this old. Its members need not be. */
  readonly minimumAgeSeconds: number;
  /** Targets that may be live, at any age: whoever asks has started them. */
  readonly asked?: readonly Identity[] | undefined;
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

export const OTHER_STEPS = [
  'archive',
  'delete',
  'remove',
  'expire',
  'end-session',
  'claude-stop',
  /** Nothing is done: it is seen to it that the call is over after the steps. */
  'free-call',
  'send-escape',
  /** The way back to a session is written down, before it is ended. */
  'sleep',
  /** A session that was ended is brought back. */
  'wake',
] as const;

/** What a plan does that is no signal: to a file, to a tmux session, or through an agent's own command. */
export interface OtherStep {
  readonly act: (typeof OTHER_STEPS)[number];
  /** A path, the name of a tmux session, the id of a job, a call. */
  readonly target: string;
  readonly why: string;
}

/** What really became of it. */
export interface OtherOutcome extends OtherStep {
  readonly outcome: 'done' | 'gone' | 'skipped' | 'failed';
}

/** A hung call can be ended with its server, or interrupted in the agent's own pane; an idle session can be ended, or sleep. */
export type FixWay = 'end' | 'interrupt' | 'sleep';

/** Calls that a plan means to end: it is looked whether it did. */
export interface FreedCall {
  readonly agent: Identity;
  /** What works on them; null: not known. */
  readonly server: Identity | null;
  /** None: whatever the session does. */
  readonly calls: readonly string[];
  /** In words: `lean-lsp lean_goal of claude (45)`. */
  readonly what: string;
}

/** A session that a plan puts to sleep: its step is its agent alone. */
export interface SleepingSession {
  readonly agent: Identity;
  readonly way: WayBack;
  /** What is below it, and is seen to end with it. */
  readonly members: readonly (Identity & { readonly bytes: number })[];
}

/** How long an agent may take to end after SIGTERM. It is never killed: what it saves is the way back. */
export const SLEEP_GRACE_MS = 10_000;

/** What a clean-up would signal, in order, what it refuses and why, and how many bytes come back. */
export interface Plan {
  /** Leaves first. */
  readonly steps: readonly Step[];
  readonly refused: readonly Refusal[];
  readonly files: readonly string[];
  readonly bytes: number;
  /** After the steps. */
  readonly otherSteps?: readonly OtherStep[] | undefined;
  /** Files and agents that are not touched. */
  readonly leftAlone?: readonly { readonly what: string; readonly why: string }[] | undefined;
  readonly frees?: readonly FreedCall[] | undefined;
  /** There is another way to the same end. */
  readonly otherWay?: FixWay | undefined;
  /** What it was made by: targets are held against it once more right before the first signal. */
  readonly policy?: EndPolicy | undefined;
  /** How its steps are executed; absent: TERM, grace, KILL. */
  readonly how?: 'signal' | 'zombies' | 'sleep' | undefined;
  /** Of a plan that puts sessions to sleep. */
  readonly sleep?:
    | { readonly sessions: readonly SleepingSession[]; readonly minimumIdleSeconds: number }
    | undefined;
}

/** Whether running it would do anything at all. */
export const doesNothing = ({
  steps,
  otherSteps: chores = [],
}: Pick<Plan, 'steps' | 'otherSteps'>): boolean => steps.length + chores.length === 0;

/** A row of a plan as a person reads it: one per process, a tree's root first and what is below it under it. */
export interface PlanRow {
  readonly step: Step;
  /** The nudge that comes first; null: there is none. */
  readonly nudge: Step | null;
  /** Below its root, and there for no other reason. */
  readonly below: boolean;
}

/** Signals go leaves first; a plan is read tree by tree, from the root down. */
export const planRows = (steps: readonly Step[]): readonly PlanRow[] => {
  const trees = new Map<string, Map<string, PlanRow>>();
  // Backwards, parents come before their children.
  for (const step of [...steps].reverse()) {
    const root = keyOf(step.root);
    const tree = trees.get(root) ?? new Map<string, PlanRow>();
    trees.set(root, tree);
    const key = keyOf(step);
    const known = tree.get(key);
    if (known === undefined) tree.set(key, { step, nudge: null, below: key !== root });
    else if (step.signal === 'SIGCHLD') tree.set(key, { ...known, nudge: step });
    else tree.set(key, { ...known, step, nudge: known.step });
  }
  const order = new Map(steps.map((step, at) => [keyOf(step.root), at]).reverse() as [string, number][]);
  return [...trees]
    .sort(([a], [b]) => order.get(a)! - order.get(b)!)
    .flatMap(([root, tree]) => {
      const top = tree.get(root);
      const rest = [...tree.values()].filter(row => row !== top);
      return top === undefined ? rest.map(row => ({ ...row, below: false })).reverse() : [top, ...rest];
    });
};

/** Why it is in the plan; empty where the root above it says so. */
export const rowReason = ({ step, nudge, below }: PlanRow): string =>
  below && step.why.startsWith(PART_OF) ? '' : [nudge?.why ?? '', step.why].filter(Boolean).join('; ');

/** How the reason of a member begins. */
export const PART_OF = 'part of ';

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

/** `clean` leaves younger leaks alone, as guard does, unless `--age-threshold` is given. */
export const CLEAN_AGE_MINUTES = 1;
/** The same of zombies, for which a live server may be ended. */
export const ZOMBIE_AGE_MINUTES = 60;

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

/** It does not run any more. */
export const IS_OVER: ReadonlySet<OutcomeKind> = new Set(['ended', 'killed', 'gone', 'zombie']);

/** What really happened to one identity, verified; never what was intended. */
export interface Outcome extends Identity {
  readonly name: string;
  readonly outcome: OutcomeKind;
  readonly why: string;
  readonly freed: number;
  /** `freed` counts what it shared with others. */
  readonly about?: boolean;
}

export const findOutcome = (step: Identity, outcomes: readonly Outcome[]): Outcome | null =>
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

/** A plan without its steps, as JSON and the audit log have it. */
export const planRest = ({ refused, files, bytes }: Plan) => ({
  refused: refused.map(({ pid, start, name, why }) => ({ pid, start, name, why })),
  files,
  bytes,
});

/** What the user asks to be done; the engine answers with a plan before anything happens. */
export type ActRequest =
  | { readonly act: 'end'; readonly targets: readonly Identity[]; readonly force: boolean }
  /** What is proven leaked. */
  | {
      readonly act: 'clean';
      readonly suspects?: boolean | undefined;
      readonly minimumAgeSeconds?: number | undefined;
      readonly kinds?: readonly Kind[] | undefined;
      readonly pids?: readonly { readonly pid: number; readonly start?: string }[] | undefined;
      /** Only leaks that these are the topmost of. */
      readonly within?: readonly Identity[] | undefined;
      /** These too, though they are live. */
      readonly asked?: readonly Identity[] | undefined;
    }
  /** Parents of zombies are nudged, a server that does not reap is ended. Absent limits: the config's. */
  | {
      readonly act: 'zombies';
      readonly minimumAgeSeconds?: number | undefined;
      readonly quietSeconds?: number | undefined;
      readonly targets?: readonly Identity[] | undefined;
      /** End nothing. */
      readonly nudgeOnly?: boolean | undefined;
    }
  /** Whatever mends this finding. */
  | { readonly act: 'fix'; readonly finding: Finding; readonly way?: FixWay | undefined }
  /** Ends idle sessions and keeps the way back. Absent targets: all that have been idle for so long. */
  | {
      readonly act: 'sleep';
      readonly targets?: readonly Identity[] | undefined;
      readonly minimumIdleSeconds: number;
    }
  | { readonly act: 'signal'; readonly targets: readonly Identity[]; readonly signal: SignalName };
