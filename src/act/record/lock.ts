import { closeSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Identity, sameIdentity } from '../../model/identity.ts';
import { isZombie } from '../../model/process.ts';
import { visible } from '../../model/text.ts';
import { errorSentence, linkUnlessTaken, readOwnTail } from '../../observe/state/own-file.ts';
import { makeStateDirectory, stateDirectory } from '../../observe/state/state-directory.ts';
import type { System } from '../../observe/system.ts';

export interface LockHolder extends Identity {
  readonly by: string;
  /** Epoch milliseconds. */
  readonly since: number;
}

export type LockResult =
  /** `warning`: it could not be written down, so another run would not see it. */
  | {
      readonly status: 'taken';
      /** We, as the lock names us; null when we cannot be identified. */
      readonly holder: Identity | null;
      readonly release: () => void;
      readonly warning: string | null;
    }
  | { readonly status: 'held'; readonly holder: LockHolder | null; readonly why: string };

type LockedSystem = Pick<System, 'presence' | 'look'>;

/** A lock of ours is some 80 bytes long. */
const MOST_BYTES = 4096;

/** What there may be one of at a time: the file that says so, and what it is called. */
export const LOCKS = {
  cleanUp: { file: 'clean.lock', what: 'clean-up', begun: 'has just begun' },
  guard: { file: 'guard.lock', what: 'guard', begun: 'has just started' },
} as const;
export type LockKind = keyof typeof LOCKS;

/** One clean-up, and one guard, at a time. A lock whose holder is gone, or is no reaptop of ours, is stale and taken over. */
export const takeRunLock = async (
  system: LockedSystem,
  by: string,
  {
    directory = stateDirectory(),
    now = Date.now,
    kind = 'cleanUp',
  }: { readonly directory?: string | null; readonly now?: () => number; readonly kind?: LockKind } = {},
): Promise<LockResult> => {
  const { file, what, begun } = LOCKS[kind];
  const me = await system.presence(process.pid);
  const without = (why: string): LockResult => ({
    status: 'taken',
    holder: me.status === 'present' ? me.identity : null,
    release: () => {},
    warning: `no lock against a second ${what}: ${why}`,
  });
  if (directory === null) return without('there is no directory for it');
  if (me.status !== 'present') return without('reaptop cannot identify itself');
  const path = join(directory, file);
  const mine: LockHolder = { ...me.identity, by, since: now() };
  try {
    makeStateDirectory(directory);
    // Twice: a stale lock is removed by one of several who see it, then all try again.
    for (let attempt = 0; attempt < 2; attempt += 1) {
      if (create(path, mine))
        return { status: 'taken', holder: me.identity, release: () => release(path, mine), warning: null };
      const text = readOwnTail(path, MOST_BYTES);
      if (text === null) continue;
      const holder = parseHolder(text);
      if (holder !== null && (await isHeld(system, holder))) return held(what, holder, now());
      removeStale(path, text, mine);
    }
  } catch (error) {
    return without(`${path}: ${errorSentence(error)}`);
  }
  return { status: 'held', holder: null, why: `another ${what} ${begun}` };
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
  return linkUnlessTaken(draft, path);
};

const release = (path: string, mine: LockHolder): void => {
  try {
    const holder = parseHolder(readOwnTail(path, MOST_BYTES) ?? '');
    if (holder !== null && sameIdentity(holder, mine)) rmSync(path);
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
  if (readOwnTail(aside, MOST_BYTES) !== stale) {
    try {
      linkSync(aside, path);
    } catch {
      // yet another took it meanwhile: the next attempt reads theirs
    }
  }
  rmSync(aside);
};

/** Whether the holder runs, and is a reaptop of this user: any other process would hold the lock for ever. */
const isHeld = async (system: LockedSystem, holder: LockHolder): Promise<boolean> => {
  const presence = await system.presence(holder.pid);
  if (presence.status === 'unreadable') return true;
  if (presence.status === 'gone' || presence.identity.start !== holder.start || isZombie(presence))
    return false;
  if (holder.pid === process.pid) return true;
  if (holder.pid <= 2) return false;
  const { processes, self } = await system.look();
  const facts = processes.find(p => sameIdentity(p, holder));
  if (facts === undefined) return false;
  // What cannot be read may well be one: better wait for it than run beside it.
  if (facts.uid !== null && self !== null && facts.uid !== self.uid) return false;
  return facts.argv === null || looksLikeReaptop(facts.argv);
};

/** `node …/dist/cli.js clean`, `reaptop`, or whatever we were started as ourselves. */
const looksLikeReaptop = (argv: readonly string[]): boolean =>
  argv.slice(0, 4).some(word => word === process.argv[1] || /(?:^|\/)(?:reaptop|dist\/cli\.js)$/.test(word));

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

const held = (what: string, holder: LockHolder, now: number): LockResult => ({
  status: 'held',
  holder,
  why: `another ${what} is running: pid ${holder.pid} (${visible(holder.by).slice(0, 40)}), for ${Math.max(0, Math.round((now - holder.since) / 1000))} s`,
});

/** Who holds a lock now; null when nobody does, as far as can be read. */
export const lockHolder = async (
  system: LockedSystem,
  kind: LockKind,
  directory: string | null,
): Promise<LockHolder | null> => {
  if (directory === null) return null;
  try {
    const holder = parseHolder(readOwnTail(join(directory, LOCKS[kind].file), MOST_BYTES) ?? '');
    return holder !== null && (await isHeld(system, holder)) ? holder : null;
  } catch {
    return null; // not ours to read
  }
};
