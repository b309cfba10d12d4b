import type { Identity } from '../../model/identity.ts';
import { isRunning } from '../../observe/procfs/kin.ts';

/** Who holds a project's build lock: a session's tool call, or `reaptop exclusive`. */
export interface BuildHolder extends Identity {
  readonly by: 'hook' | 'exclusive';
  readonly key: string;
  readonly session: string | null;
  readonly toolUseId: string | null;
  /** The tool or the program, for whoever has to wait. */
  readonly what: string;
  /** Epoch milliseconds. */
  readonly since: number;
  /** The program that runs under it: while that one does, the project is not free. */
  readonly child?: Identity | undefined;
  /** Empty locks of the seeds' kind that lie beside it. */
  readonly beside?: readonly string[] | undefined;
}

/** A tool call that never told its end, though its session lives: nothing builds for so long without a word. */
const TOOL_LOCK_MS = 30 * 60_000;
/** Where nobody can tell who runs. */
const BLIND_LOCK_MS = 10 * 60_000;

export const isSame = (a: BuildHolder, b: BuildHolder): boolean =>
  a.pid === b.pid && a.start === b.start && a.session === b.session && a.toolUseId === b.toolUseId;

/** Whether it still keeps others out. */
export const isHeld = (holder: BuildHolder, now: number): boolean => {
  if (holder.child !== undefined && isRunning(holder.child) === true) return true;
  const running = isRunning(holder);
  const age = now - holder.since;
  if (running === null) return age < BLIND_LOCK_MS && age > -BLIND_LOCK_MS;
  return running && (holder.by === 'exclusive' || age < TOOL_LOCK_MS);
};

const isIdentity = (value: unknown): value is Identity => {
  const { pid, start } = (value ?? {}) as Record<string, unknown>;
  return Number.isInteger(pid) && typeof start === 'string';
};

/** Null: nothing that makes sense. */
export const parseHolder = (text: string): BuildHolder | null => {
  try {
    const value = JSON.parse(text) as Record<string, unknown>;
    const { pid, start, by, key, session, toolUseId, what, since, child, beside } = value;
    const sound =
      Number.isInteger(pid) &&
      typeof start === 'string' &&
      (by === 'hook' || by === 'exclusive') &&
      typeof key === 'string' &&
      (session === null || typeof session === 'string') &&
      (toolUseId === null || typeof toolUseId === 'string') &&
      typeof what === 'string' &&
      typeof since === 'number';
    if (!sound) return null;
    const holder = { pid, start, by, key, session, toolUseId, what, since } as BuildHolder;
    return {
      ...holder,
      ...(isIdentity(child) ? { child } : {}),
      ...(Array.isArray(beside) ? { beside: beside.filter(path => typeof path === 'string') } : {}),
    };
  } catch {
    return null; // cut short by a full disk: as good as stale
  }
};
