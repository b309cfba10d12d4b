import { join } from 'node:path';
import { AUDIT_FILE } from '../act/record/lines.ts';
import { OUTCOMES, type OutcomeKind } from '../model/plan.ts';
import { parseDate } from '../model/time.ts';
import { FollowedLines } from '../observe/state/follow-lines.ts';

const MOST_BYTES = 2 * 1024 ** 2;

/** One act of anybody, as the audit log tells it. */
export interface AuditedAct {
  readonly at: number;
  readonly event: 'intent' | 'outcome';
  readonly by: string;
  /** Trees that it was to end. */
  readonly roots: number;
  readonly outcomes: Readonly<Partial<Record<OutcomeKind, number>>>;
  readonly freed: number;
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
    const { time, event, by, plan, outcomes, freed } = JSON.parse(line) as Readonly<Record<string, unknown>>;
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
