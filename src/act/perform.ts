import { randomUUID } from 'node:crypto';
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

/**
 * The only way anything is carried out: lock, intent line, run, outcome line, release. Both lines are written before
 * anybody prints a word, so that a closed or full terminal costs no record.
 */
export const perform = async <D extends Deed>(act: Act<D>): Promise<Performed<D>> => {
  const { system, by, plan } = act;
  const place = act.directory === undefined ? statePlace() : { directory: act.directory, warning: null };
  const lock = await takeRunLock(system, by, { directory: place.directory });
  if (lock.status === 'held') return lock;
  const warnings = new Set([place.warning, lock.warning].filter(text => text !== null));
  const { writeAudit } = await import('./record/audit.ts');
  let audited = true;
  const write = (line: IntentLine | OutcomeLine): void => {
    const warning = writeAudit(line, { directory: place.directory });
    if (warning === null) return;
    audited = false;
    warnings.add(warning);
  };
  try {
    if (place.directory !== null && lock.holder !== null)
      await completeRecord(
        system,
        { ...lock.holder, by },
        { directory: place.directory, boot: act.boot ?? null, write },
      );
    const id = randomUUID();
    write({
      schema: 1,
      event: 'intent',
      id,
      by,
      why: act.why,
      writer: lock.holder,
      boot: act.boot ?? null,
      plan: planEntries(plan),
      sessions: act.sessions ?? [],
    });
    const outcomeLine = (deed: Deed, note: string | null): OutcomeLine => ({
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
    const startedAt = performance.now();
    let deed: D;
    try {
      deed = await act.run();
    } catch (error) {
      const durationMs = performance.now() - startedAt;
      const outcomes = await foundNow(system, plan.steps);
      write(outcomeLine({ outcomes, durationMs }, `it failed: ${(error as Error).message}`));
      throw error;
    }
    write(outcomeLine(deed, deed.stopped ?? null));
    return { status: 'done', deed, warnings: [...warnings], audited };
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
    const { writeAudit } = await import('./record/audit.ts');
    const write = (line: OutcomeLine): unknown => writeAudit(line, { directory });
    if (directory !== null && lock.holder !== null)
      await completeRecord(system, { ...lock.holder, by }, { directory, boot, write });
  } finally {
    lock.release();
  }
};
