import { closeSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Identity, sameIdentity } from '../../model/identity.ts';
import type { System } from '../../observe/system.ts';
import { errorSentence, makeStateDirectory, stateDirectory } from './state-directory.ts';

export interface LockHolder extends Identity {
  readonly by: string;
  /** Epoch milliseconds. */
  readonly since: number;
}

export type LockResult =
  /** `warning`: it could not be written down, so another run would not see it. */
  | { readonly status: 'taken'; readonly release: () => void; readonly warning: string | null }
  | { readonly status: 'held'; readonly holder: LockHolder | null; readonly why: string };

/** One clean-up at a time. A lock whose holder's identity is gone is stale and taken over. */
export const takeRunLock = async (
  system: Pick<System, 'presence'>,
  by: string,
  {
    directory = stateDirectory(),
    now = Date.now,
  }: { readonly directory?: string | null; readonly now?: () => number } = {},
): Promise<LockResult> => {
  const without = (why: string): LockResult => ({
    status: 'taken',
    release: () => {},
    warning: `no lock against a second clean-up: ${why}`,
  });
  if (directory === null) return without('HOME is not set');
  const me = await system.presence(process.pid);
  if (me.status !== 'present') return without('reaptop cannot identify itself');
  const path = join(directory, 'clean.lock');
  const mine: LockHolder = { ...me.identity, by, since: now() };
  try {
    makeStateDirectory(directory);
    // Twice: a stale lock is removed by one of several who see it, then all try again.
    for (let attempt = 0; attempt < 2; attempt += 1) {
      if (create(path, mine)) return { status: 'taken', release: () => release(path, mine), warning: null };
      const text = readOrNull(path);
      if (text === null) continue;
      const holder = parseHolder(text);
      if (holder !== null && (await isAlive(system, holder))) return held(holder, now());
      removeStale(path, text, mine);
    }
  } catch (error) {
    return without(`${path}: ${errorSentence(error)}`);
  }
  return { status: 'held', holder: null, why: 'another clean-up has just begun' };
};

/** The file appears with its content, whole: written beside, then linked, which fails when the name exists. */
const create = (path: string, holder: LockHolder): boolean => {
  const draft = `${path}.${holder.pid}`;
  rmSync(draft, { force: true });
  const fd = openSync(draft, 'wx', 0o600);
  try {
    writeSync(fd, JSON.stringify(holder));
  } finally {
    closeSync(fd);
  }
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
};

const release = (path: string, mine: LockHolder): void => {
  try {
    const holder = parseHolder(readOrNull(path) ?? '');
    if (holder !== null && sameIdentity(holder, mine)) rmSync(path, { force: true });
  } catch {
    // A lock that cannot be removed is stale as soon as we have ended.
  }
};

/** Moved aside first: of several runs only one gets it, and a fresh lock that slipped in is put back. */
const removeStale = (path: string, stale: string, mine: LockHolder): void => {
  const aside = `${path}.stale.${mine.pid}`;
  try {
    renameSync(path, aside);
  } catch {
    return; // another run was quicker
  }
  if (readOrNull(aside) !== stale) {
    try {
      linkSync(aside, path);
    } catch {
      // yet another took it meanwhile: the next attempt reads theirs
    }
  }
  rmSync(aside, { force: true });
};

const isAlive = async (system: Pick<System, 'presence'>, holder: LockHolder): Promise<boolean> => {
  const presence = await system.presence(holder.pid);
  return (
    presence.status === 'unreadable' ||
    (presence.status === 'present' && presence.identity.start === holder.start)
  );
};

const readOrNull = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

const parseHolder = (text: string): LockHolder | null => {
  try {
    const { pid, start, by, since } = JSON.parse(text) as Record<string, unknown>;
    const sound =
      Number.isInteger(pid) &&
      typeof start === 'string' &&
      typeof by === 'string' &&
      typeof since === 'number';
    return sound ? ({ pid, start, by, since } as LockHolder) : null;
  } catch {
    return null; // cut short by a full disk: as good as stale
  }
};

const held = (holder: LockHolder, now: number): LockResult => ({
  status: 'held',
  holder,
  why: `another clean-up runs: pid ${holder.pid} (${holder.by}), since ${Math.max(0, Math.round((now - holder.since) / 1000))} s`,
});
