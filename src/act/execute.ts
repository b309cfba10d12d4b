import type { Identity } from '../model/identity.ts';
import type { AskedBy, Outcome, Plan } from '../model/plan.ts';
import { summarise } from '../model/plan-text.ts';
import { statePlace } from '../observe/state/state-directory.ts';
import type { System } from '../observe/system.ts';
import { endZombies } from './end-zombies.ts';
import {
  freedBy,
  type IntentLine,
  type OutcomeLine,
  outcomeEntries,
  planEntries,
} from './record/audit-lines.ts';
import { takeRunLock } from './record/run-lock.ts';
import { completeRecord, foundNow } from './record/unfinished.ts';
import { executeSignals } from './signal-plan.ts';
import { type TerminateOptions, type TerminateResult, terminate } from './terminate/terminate.ts';

/** What an act leaves to be written down. */
export interface Execution {
  readonly outcomes: readonly Outcome[];
  readonly durationMs: number;
  /** Why it stopped before its end; null when it ran through. */
  readonly stopped?: string | null;
  /** What `sweep` did to tmux sessions and files. */
  readonly sessions?: readonly object[];
  readonly files?: readonly object[];
}

export interface ExecutionRequest<D extends Execution> {
  readonly system: System;
  readonly by: AskedBy;
  /** Why it was asked for: the key, the flags, the policy, the hook. */
  readonly why: string;
  readonly plan: Plan;
  /** tmux sessions that are ended too. */
  readonly sessions?: readonly object[] | undefined;
  /** The boot that the plan's start times belong to. */
  readonly boot?: string | null | undefined;
  /** Signals; must come back with what happened also when it is cancelled. */
  readonly run: () => Promise<D>;
  readonly directory?: string | null | undefined;
}

export type ExecutionResult<D> =
  | { readonly status: 'held'; readonly why: string }
  | {
      readonly status: 'done';
      readonly execution: D;
      readonly warnings: readonly string[];
      /** Both lines are in the audit log. */
      readonly audited: boolean;
    };

/** The audit log as one act writes it; what could not be written becomes a warning of the act. */
interface Record {
  write(line: IntentLine | OutcomeLine): void;
  /** Before the intent: what was cut off is completed in the file it began in, then a full file is put aside. */
  prepare(system: System, holder: Identity | null, boot: string | null): Promise<void>;
  readonly warnings: ReadonlySet<string | null>;
  /** Every line is in the log. */
  isWhole(): boolean;
}

const openRecord = async (directory: string | null, by: AskedBy): Promise<Record> => {
  const { writeAudit, rotateAudit } = await import('./record/audit.ts');
  const warnings = new Set<string | null>();
  let whole = true;
  const write = (line: IntentLine | OutcomeLine): void => {
    const warning = writeAudit(line, { directory });
    if (warning === null) return;
    whole = false;
    warnings.add(warning);
  };
  return {
    write,
    warnings,
    isWhole: () => whole,
    prepare: async (system, holder, boot) => {
      if (directory === null) return;
      if (holder !== null) await completeRecord(system, { ...holder, by }, { directory, boot, write });
      warnings.add(await rotateAudit(directory));
    },
  };
};

const intentLine = <D extends Execution>(
  act: ExecutionRequest<D>,
  id: string,
  writer: Identity | null,
): IntentLine => ({
  schema: 1,
  event: 'intent',
  id,
  by: act.by,
  why: act.why,
  writer,
  boot: act.boot ?? null,
  plan: planEntries(act.plan),
  sessions: act.sessions ?? [],
});

const outcomeLine = (
  { by, plan }: ExecutionRequest<Execution>,
  id: string,
  execution: Execution,
  note: string | null,
): OutcomeLine => ({
  schema: 1,
  event: 'outcome',
  id,
  by,
  outcomes: outcomeEntries(plan, execution.outcomes),
  freed: freedBy(execution.outcomes),
  durationMs: Math.round(execution.durationMs),
  sessions: execution.sessions ?? [],
  files: execution.files ?? [],
  note,
  completedBy: null,
});

/**
 * The only way anything is carried out: lock, intent line, run, outcome line, release. Both lines are written before
 * anybody prints a word, so that a closed or full terminal costs no record.
 */
export const executeWith = async <D extends Execution>(
  act: ExecutionRequest<D>,
): Promise<ExecutionResult<D>> => {
  const { system, by, plan } = act;
  const place = act.directory === undefined ? statePlace() : { directory: act.directory, warning: null };
  const lock = await takeRunLock(system, by, { directory: place.directory });
  if (lock.status === 'held') return lock;
  try {
    const record = await openRecord(place.directory, by);
    await record.prepare(system, lock.holder, act.boot ?? null);
    const id = crypto.randomUUID();
    record.write(intentLine(act, id, lock.holder));
    const startedAt = performance.now();
    let execution: D;
    try {
      execution = await act.run();
    } catch (error) {
      const durationMs = performance.now() - startedAt;
      const outcomes = await foundNow(system, plan.steps);
      record.write(outcomeLine(act, id, { outcomes, durationMs }, `it failed: ${(error as Error).message}`));
      throw error;
    }
    record.write(outcomeLine(act, id, execution, execution.stopped ?? null));
    const warnings = [place.warning, lock.warning, ...record.warnings].filter(text => text !== null);
    return { status: 'done', execution, warnings, audited: record.isWhole() };
  } finally {
    lock.release();
  }
};

export interface StepsResult extends TerminateResult {
  readonly summary: string;
}

/** The steps of a plan alone, in the way the plan says; the caller holds the lock and keeps the record. */
export const executeSteps = async (
  options: TerminateOptions & { readonly quietSeconds: number },
): Promise<StepsResult> => {
  const { plan, onProgress } = options;
  if (plan.how === 'signal') {
    const sent = await executeSignals(options);
    for (const outcome of sent.outcomes) onProgress?.({ type: 'outcome', outcome });
    return { ...sent, freed: 0, durationMs: 0, stopped: null, warnings: [] };
  }
  const ended = plan.how === 'zombies' ? await endZombies(options) : await terminate(options);
  return { ...ended, summary: summarise(ended.outcomes) };
};

/** For a run that has nothing to do itself: the record of one that was killed is completed all the same. */
export const completeEarlierActs = async (
  system: System,
  by: AskedBy,
  boot: string | null,
  directory = statePlace().directory,
): Promise<void> => {
  const lock = await takeRunLock(system, by, { directory });
  if (lock.status === 'held') return;
  try {
    const record = await openRecord(directory, by);
    await record.prepare(system, lock.holder, boot);
  } finally {
    lock.release();
  }
};

/** Exit code 4: something in the plan outlived it, or the system forbade it. */
export const leftSomething = (outcomes: readonly Outcome[]): boolean =>
  outcomes.some(({ outcome }) => outcome === 'survived' || outcome === 'denied');
