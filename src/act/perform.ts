import { randomUUID } from 'node:crypto';
import type { Identity } from '../model/identity.ts';
import type { AskedBy, Outcome, Plan } from '../model/plan.ts';
import { statePlace } from '../observe/state/state-directory.ts';
import type { System } from '../observe/system.ts';
import { freedBy, type IntentLine, type OutcomeLine, outcomeEntries, planEntries } from './record/lines.ts';
import { takeRunLock } from './record/lock.ts';
import { completeRecord, foundNow } from './record/unfinished.ts';

/** What an act leaves to be written down. */
export interface Deed {
  readonly outcomes: readonly Outcome[];
  readonly durationMs: number;
  /** Why it stopped before its end; null when it ran through. */
  readonly stopped?: string | null;
  /** What `sweep` did to tmux sessions and files. */
  readonly sessions?: readonly object[];
  readonly files?: readonly object[];
}

export interface Act<D extends Deed> {
  readonly system: System;
  readonly by: AskedBy;
  /** Why it was asked for: the key, the flags, the policy, the hook. */
  readonly why: string;
  readonly plan: Plan;
  /** tmux sessions that are to be ended besides. */
  readonly sessions?: readonly object[] | undefined;
  /** The boot that the plan's start times belong to. */
  readonly boot?: string | null | undefined;
  /** Signals; must come back with what happened also when it is cancelled. */
  readonly run: () => Promise<D>;
  readonly directory?: string | null | undefined;
}

export type Performed<D> =
  | { readonly status: 'held'; readonly why: string }
  | {
      readonly status: 'done';
      readonly deed: D;
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

const intentLine = <D extends Deed>(act: Act<D>, id: string, writer: Identity | null): IntentLine => ({
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

const outcomeLine = ({ by, plan }: Act<Deed>, id: string, deed: Deed, note: string | null): OutcomeLine => ({
  schema: 1,
  event: 'outcome',
  id,
  by,
  outcomes: outcomeEntries(plan, deed.outcomes),
  freed: freedBy(deed.outcomes),
  durationMs: Math.round(deed.durationMs),
  sessions: deed.sessions ?? [],
  files: deed.files ?? [],
  note,
  completedBy: null,
});

/**
 * The only way anything is carried out: lock, intent line, run, outcome line, release. Both lines are written before
 * anybody prints a word, so that a closed or full terminal costs no record.
 */
export const perform = async <D extends Deed>(act: Act<D>): Promise<Performed<D>> => {
  const { system, by, plan } = act;
  const place = act.directory === undefined ? statePlace() : { directory: act.directory, warning: null };
  const lock = await takeRunLock(system, by, { directory: place.directory });
  if (lock.status === 'held') return lock;
  try {
    const record = await openRecord(place.directory, by);
    await record.prepare(system, lock.holder, act.boot ?? null);
    const id = randomUUID();
    record.write(intentLine(act, id, lock.holder));
    const startedAt = performance.now();
    let deed: D;
    try {
      deed = await act.run();
    } catch (error) {
      const durationMs = performance.now() - startedAt;
      const outcomes = await foundNow(system, plan.steps);
      record.write(outcomeLine(act, id, { outcomes, durationMs }, `it failed: ${(error as Error).message}`));
      throw error;
    }
    record.write(outcomeLine(act, id, deed, deed.stopped ?? null));
    const warnings = [place.warning, lock.warning, ...record.warnings].filter(text => text !== null);
    return { status: 'done', deed, warnings, audited: record.isWhole() };
  } finally {
    lock.release();
  }
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
