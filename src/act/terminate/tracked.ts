import { selfAndAncestors } from '../../model/forest.ts';
import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import {
  isAbout,
  type Outcome,
  type OutcomeKind,
  type SignalName,
  type Step,
  weightOf,
} from '../../model/plan.ts';
import type { ProcessFacts } from '../../model/process.ts';
import type { System } from '../../observe/system.ts';
import type { Clock } from '../clock.ts';
import type { Census } from './census.ts';

/** What happens during a run, for progress lines and the TUI. A later outcome of an identity replaces the earlier. */
export type Progress =
  | { readonly type: 'signal'; readonly step: Step; readonly signal: SignalName }
  | { readonly type: 'join'; readonly step: Step }
  | { readonly type: 'wait'; readonly left: number; readonly elapsedMs: number; readonly graceMs: number }
  | { readonly type: 'outcome'; readonly outcome: Outcome };

/** One identity on its way to an outcome. */
export interface Tracked {
  readonly step: Step;
  /** As it was when the run began, or when it joined. */
  readonly facts: ProcessFacts;
  /** What was last sent to end it; null before. */
  sent: SignalName | null;
  /** When it was first seen to be no longer running. */
  diedAt: number | null;
  /** It ended, and this pid has not reaped it yet. */
  heldBy: number | null;
  /** Last state seen while it ran. */
  state: string;
  outcome: Outcome | null;
}

/** A process that is proven to come from a member of the plan; it is judged, and joins, at the next census. */
export interface Link {
  readonly facts: ProcessFacts;
  readonly member: Tracked;
}

/** The state of one run; only the functions of `terminate` and its neighbours change it. */
export interface TerminateRun {
  readonly system: System;
  readonly clock: Clock;
  readonly startedAt: number;
  readonly graceMs: number;
  /** Members are stopped for the moment of each signal. Not in what a person ends: a shell takes its terminal back. */
  readonly holds: boolean;
  /** Only what the plan names is signalled: what a session has started ends with it, or is judged as any other. */
  readonly alone: boolean;
  readonly deadlineAt: number;
  readonly abort: AbortSignal | undefined;
  readonly before: Census;
  readonly tracked: Map<IdentityKey, Tracked>;
  /** The same by pid. Two identities of one pid cannot both be running; the later one counts. */
  readonly byPid: Map<number, Tracked>;
  /** What is proven to come from members, and has not joined yet or has. */
  readonly links: Map<IdentityKey, Link>;
  /** Planned, then left alone: whatever started them, they never join. */
  readonly spared: Set<IdentityKey>;
  readonly warnings: string[];
  readonly onProgress: (progress: Progress) => void;
}

export const track = (run: TerminateRun, step: Step, facts: ProcessFacts): Tracked => {
  const tracked: Tracked = {
    step,
    facts,
    sent: null,
    diedAt: null,
    heldBy: null,
    state: facts.state,
    outcome: null,
  };
  run.tracked.set(keyOf(step), tracked);
  run.byPid.set(step.pid, tracked);
  return tracked;
};

/** Why the run must not go on; null while it may. */
export const stopReason = (run: TerminateRun): string | null => {
  if (run.abort?.aborted === true) return 'it was cancelled';
  if (run.clock.now() >= run.deadlineAt)
    return `timed out after ${Math.round((run.deadlineAt - run.startedAt) / 1000)} s`;
  return null;
};

/** Still to be ended, as far as we know. */
export const running = (run: TerminateRun): Tracked[] =>
  [...run.tracked.values()].filter(t => t.outcome === null && t.diedAt === null);

/** KILL goes from the root down: a parent that restarts its children must not outlive them. */
export const rootsFirst = (run: TerminateRun, members: readonly Tracked[]): Tracked[] => {
  const parentOf = ({ facts }: Tracked) => (facts.ppid === null ? null : run.byPid.get(facts.ppid));
  return members
    .map(t => ({ t, depth: selfAndAncestors(t, parentOf).size }))
    .sort((a, b) => a.depth - b.depth)
    .map(entry => entry.t);
};

const FREES: ReadonlySet<OutcomeKind> = new Set(['ended', 'killed', 'zombie']);

export const outcomeFor = (step: Step, outcome: OutcomeKind, why: string): Outcome => ({
  pid: step.pid,
  start: step.start,
  name: step.name,
  outcome,
  why,
  ...(FREES.has(outcome) ? { freed: weightOf(step), about: isAbout(step) } : { freed: 0 }),
});

export const settle = (run: TerminateRun, tracked: Tracked, outcome: OutcomeKind, why: string): void => {
  tracked.outcome = outcomeFor(tracked.step, outcome, why);
  run.onProgress({ type: 'outcome', outcome: tracked.outcome });
};

export const isTracked = (run: TerminateRun, identity: Identity): boolean => run.tracked.has(keyOf(identity));
