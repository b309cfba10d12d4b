import { join } from 'node:path';
import { type Identity, sameIdentity } from '../../model/identity.ts';
import type { JsonObject } from '../../model/json.ts';
import type { AskedBy } from '../../model/plan.ts';
import { isZombie } from '../../model/process.ts';
import { readOwnTail } from '../../observe/state/own-file.ts';
import type { System } from '../../observe/system.ts';
import { AUDIT_FILE, type OutcomeLine } from './audit-lines.ts';

/** An act that was cut off is among the last few; a plan of a thousand steps is some 400 KB. */
const TAIL_BYTES = 2 * 1024 * 1024;

/** What is needed of an intent that another run wrote, perhaps of another version. */
interface Unfinished {
  readonly id: string;
  readonly by: AskedBy;
  readonly writer: Identity | null;
  readonly boot: string | null;
  readonly planned: readonly (Identity & { readonly name: string })[];
}

/**
 * Writes the outcomes of acts that never got to it (kill -9, power cut), from what is found now. To be called by
 * whoever holds the run lock.
 */
export const completeRecord = async (
  system: Pick<System, 'presence'>,
  completedBy: Identity & { readonly by: AskedBy },
  {
    directory,
    boot,
    write,
  }: {
    readonly directory: string;
    readonly boot: string | null;
    readonly write: (line: OutcomeLine) => unknown;
  },
): Promise<void> => {
  let tail: string | null = null;
  try {
    tail = readOwnTail(join(directory, AUDIT_FILE), TAIL_BYTES);
  } catch {
    // The next write reports what is wrong with it.
  }
  for (const act of unfinishedIn(tail ?? '')) {
    const rebooted = act.boot !== null && boot !== null && act.boot !== boot;
    if (!rebooted && act.writer !== null && (await stillRuns(system, act.writer))) continue;
    const outcomes = rebooted
      ? act.planned.map(planned => ({ ...planned, ...GONE }))
      : await foundNow(system, act.planned);
    write({
      schema: 1,
      event: 'outcome',
      id: act.id,
      by: act.by,
      outcomes,
      freed: 0,
      durationMs: null,
      sessions: [],
      files: [],
      note: 'cut off before it could write its outcomes',
      completedBy,
    });
  }
};

const GONE = {
  outcome: 'gone',
  why: 'it is gone: the act that was cut off ended it, or it ended by itself',
  freed: 0,
} as const;
const RUNS = { outcome: 'survived', why: 'it runs: the act was cut off', freed: 0 } as const;

/** What became of planned identities, as far as that is known afterwards; nothing counts as freed. */
export const foundNow = async <T extends Identity>(
  system: Pick<System, 'presence'>,
  planned: readonly T[],
): Promise<readonly (T & (typeof GONE | typeof RUNS))[]> => {
  const found: (T & (typeof GONE | typeof RUNS))[] = [];
  for (const target of planned)
    found.push({ ...target, ...((await stillRuns(system, target)) ? RUNS : GONE) });
  return found;
};

/** Unreadable is not gone. */
const stillRuns = async (system: Pick<System, 'presence'>, target: Identity): Promise<boolean> => {
  const now = await system.presence(target.pid);
  if (now.status === 'unreadable') return true;
  return now.status === 'present' && sameIdentity(now.identity, target) && !isZombie(now);
};

const unfinishedIn = (text: string): readonly Unfinished[] => {
  const open = new Map<string, Unfinished>();
  for (const line of text.split('\n')) {
    const entry = parse(line);
    if (entry === null || typeof entry.id !== 'string') continue;
    if (entry.event === 'outcome') open.delete(entry.id);
    else if (entry.event === 'intent')
      open.set(entry.id, {
        id: entry.id,
        by: entry.by as AskedBy,
        writer: asIdentity(entry.writer),
        boot: typeof entry.boot === 'string' ? entry.boot : null,
        planned: plannedIn(entry.plan),
      });
  }
  return [...open.values()];
};

/** The first line of a tail is usually half a line: what does not parse is passed over, and so is what has no id. */
const parse = (line: string): JsonObject | null => {
  try {
    return JSON.parse(line) as JsonObject | null;
  } catch {
    return null;
  }
};

const asIdentity = (value: unknown): Identity | null => {
  const { pid, start } = (value ?? {}) as JsonObject;
  return Number.isInteger(pid) && typeof start === 'string' ? { pid: pid as number, start } : null;
};

const plannedIn = (plan: unknown): Unfinished['planned'] => {
  const { steps } = (plan ?? {}) as JsonObject;
  if (!Array.isArray(steps)) return [];
  return steps.flatMap((step: unknown) => {
    const identity = asIdentity(step);
    // What else the intent said of it (kind, verdict, session) is said again.
    return identity === null
      ? []
      : [{ ...(step as JsonObject), ...identity, name: String((step as JsonObject).name) }];
  });
};
