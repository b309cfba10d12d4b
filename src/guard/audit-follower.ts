import { closeSync, constants, fstatSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { AUDIT_FILE } from '../act/record/lines.ts';
import { OUTCOMES, type OutcomeKind } from '../model/plan.ts';
import { parseDate } from '../model/time.ts';
import { openOwn } from '../observe/state/own-file.ts';

/** More than this between two looks is read from its end. */
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
  readonly #path: string | null;
  #inode = -1;
  #offset = 0;

  constructor(directory: string | null) {
    this.#path = directory === null ? null : join(directory, AUDIT_FILE);
  }

  /** Unreadable, or not there yet: nothing. It is only counted. */
  next(): readonly AuditedAct[] {
    if (this.#path === null) return [];
    try {
      const fd = openOwn(this.#path, constants.O_RDONLY);
      try {
        return this.#read(fd);
      } finally {
        closeSync(fd);
      }
    } catch {
      return [];
    }
  }

  #read(fd: number): readonly AuditedAct[] {
    const { ino, size } = fstatSync(fd);
    // Rotated: what came to the old file's end meanwhile is lost to the counts, not to the log.
    if (ino !== this.#inode || size < this.#offset) this.#offset = 0;
    this.#inode = ino;
    const from = Math.max(this.#offset, size - MOST_BYTES);
    const buffer = Buffer.alloc(size - from);
    const text = buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, from));
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    this.#offset = from + Buffer.byteLength(whole);
    return whole.split('\n').flatMap(parse);
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
