import { join } from 'node:path';
import { AUDIT_FILE } from '../act/record/audit-lines.ts';
import type { SweepResult } from '../act/sweep/execute-sweep.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import { IS_OVER, OUTCOMES, type Outcome, type OutcomeKind } from '../model/plan.ts';
import { summarise } from '../model/plan-text.ts';
import { parseDate } from '../model/time.ts';
import { plural } from '../model/units.ts';
import { FollowedLines } from '../observe/state/lines-file.ts';
import { sleptIn } from '../remember/audit-history.ts';

/** What an act left running is left alone for a while: trying every ten seconds is useless and fills the log. */
const REST_SECONDS = 600;
const ACTS_KEPT = 10;

/** What guard has done since it started. */
export class Account {
  ended = 0;
  reclaimedBytes = 0;
  readonly acts: { readonly at: number; readonly text: string }[] = [];
  readonly #rests = new Map<IdentityKey, number>();

  note(text: string, wall: number): void {
    this.acts.push({ at: wall, text });
    if (this.acts.length > ACTS_KEPT) this.acts.shift();
  }

  /** Takes outcomes; whatever is not over rests, with its root. */
  take(outcomes: readonly Outcome[], roots: ReadonlyMap<IdentityKey, IdentityKey>, at: number): void {
    for (const outcome of outcomes) {
      const key = keyOf(outcome);
      if (outcome.outcome === 'ended' || outcome.outcome === 'killed') this.ended += 1;
      this.reclaimedBytes += outcome.freed;
      if (!IS_OVER.has(outcome.outcome)) this.#rests.set(roots.get(key) ?? key, at + REST_SECONDS);
    }
  }

  resting(at: number): ReadonlySet<IdentityKey> {
    for (const [key, until] of this.#rests) if (until <= at) this.#rests.delete(key);
    return new Set(this.#rests.keys());
  }
}

/** `3 ended, 312 MiB freed`, with the names of what was ended. */
export const endingText = (what: string, outcomes: readonly Outcome[]): string => {
  const names = [...new Set(outcomes.filter(({ outcome }) => IS_OVER.has(outcome)).map(({ name }) => name))];
  const told = names.length === 0 ? '' : `: ${names.slice(0, 5).join(', ')}${names.length > 5 ? ', …' : ''}`;
  return `${what}: ${summarise(outcomes)}${told}`;
};

export const sweepText = ({ outcomes, sessions, files }: SweepResult): string => {
  const over = sessions.filter(({ outcome }) => outcome === 'ended' || outcome === 'gone').length;
  const done = files.filter(({ outcome }) => outcome === 'done').length;
  const parts = [
    ...(outcomes.length === 0 ? [] : [summarise(outcomes)]),
    ...(over === 0 ? [] : [plural(over, 'session')]),
    plural(done, 'file'),
  ];
  return `sweep: ${parts.join(', ')}`;
};

const MOST_BYTES = 2 * 1024 ** 2;

/** One act of any reaptop, from the audit log. */
export interface AuditedAct {
  readonly at: number;
  readonly event: 'intent' | 'outcome';
  readonly by: string;
  /** Trees that it was to end. */
  readonly roots: number;
  readonly outcomes: Readonly<Partial<Record<OutcomeKind, number>>>;
  readonly freed: number;
  /** Sessions that it put to sleep. */
  readonly slept: number;
}

/** Reads what was added to the audit log since the last time, by whomever: `clean`, a hook, the screen, guard itself. */
export class AuditFollower {
  readonly #lines: FollowedLines;

  constructor(directory: string | null) {
    this.#lines = new FollowedLines(directory === null ? null : join(directory, AUDIT_FILE), MOST_BYTES);
  }

  next(): readonly AuditedAct[] {
    return this.#lines.next().flatMap(parse);
  }
}

const parse = (line: string): readonly AuditedAct[] => {
  try {
    const { time, event, by, plan, outcomes, freed, sessions } = JSON.parse(line) as Readonly<
      Record<string, unknown>
    >;
    const at = parseDate(String(time));
    if (at === null || (event !== 'intent' && event !== 'outcome')) return [];
    return [
      {
        at,
        event,
        by: String(by),
        roots: rootsIn(plan),
        outcomes: countsOf(outcomes),
        freed: typeof freed === 'number' && freed > 0 ? freed : 0,
        slept: sleptIn(sessions),
      },
    ];
  } catch {
    return []; // torn, or empty
  }
};

const rootsIn = (plan: unknown): number => {
  const { steps } = (plan ?? {}) as { readonly steps?: unknown };
  if (!Array.isArray(steps)) return 0;
  return new Set(steps.map((step: { readonly root?: unknown }) => JSON.stringify(step?.root))).size;
};

const countsOf = (outcomes: unknown): AuditedAct['outcomes'] => {
  const counts: Partial<Record<OutcomeKind, number>> = {};
  for (const entry of Array.isArray(outcomes) ? outcomes : []) {
    const kind = OUTCOMES.find(known => known === (entry as { readonly outcome?: unknown } | null)?.outcome);
    if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
};
