import { join } from 'node:path';
import { type Identity, sameIdentity } from '../../model/identity.ts';
import { isZombie } from '../../model/process.ts';
import { visible } from '../../model/text.ts';
import { errorSentence } from '../../observe/state/own-file.ts';
import { makeStateDirectory, stateDirectory } from '../../observe/state/state-directory.ts';
import type { System } from '../../observe/system.ts';
import {
  type FoundLock,
  type LockOwner,
  lockState,
  ownerOf,
  parseFields,
  parseOwner,
  readLock,
  removeLock,
  replaceStale,
  tryLock,
} from './file-lock.ts';

export interface LockHolder extends LockOwner {
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

type LockedSystem = Pick<System, 'presence' | 'sample'>;

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
  const mine: LockHolder = { ...ownerOf(me.identity), by, since: now() };
  const text = JSON.stringify(mine);
  const taken: LockResult = {
    status: 'taken',
    holder: me.identity,
    release: () => removeLock(path, text),
    warning: null,
  };
  try {
    makeStateDirectory(directory);
    // Twice: a stale lock is replaced by one of several who see it, then the others find that one's.
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const found = tryLock(path, text);
      if (found === 'taken') return taken;
      if (found === null) continue;
      const holder = parseHolder(found.text);
      if (holder !== null && (await isHeld(system, holder, found, now()))) return held(what, holder, now());
      if (replaceStale(path, found, text)) return taken;
    }
  } catch (error) {
    return without(`${path}: ${errorSentence(error)}`);
  }
  return { status: 'held', holder: null, why: `another ${what} ${begun}` };
};

/** Where we cannot see whether it runs. A clean-up takes less; two guards of two pid namespaces see different processes. */
const ELSEWHERE_MS = 60_000;

/** Whether the holder runs, and is a reaptop of this user: any other process would hold the lock forever. */
const isHeld = async (
  system: LockedSystem,
  holder: LockHolder,
  { mtimeMs }: FoundLock,
  now: number,
): Promise<boolean> => {
  if (lockState(holder) === 'elsewhere') return Math.abs(now - mtimeMs) < ELSEWHERE_MS;
  const presence = await system.presence(holder.pid);
  if (presence.status === 'unreadable') return true;
  if (presence.status === 'gone' || presence.identity.start !== holder.start || isZombie(presence))
    return false;
  if (holder.pid === process.pid) return true;
  if (holder.pid <= 2) return false;
  const { processes, self } = await system.sample();
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
  const fields = parseFields(text);
  const owner = parseOwner(fields);
  const { by, since } = fields;
  return owner !== null && typeof by === 'string' && typeof since === 'number'
    ? { ...owner, by, since }
    : null;
};

const held = (what: string, holder: LockHolder, now: number): LockResult => ({
  status: 'held',
  holder,
  why: `another ${what} is running: pid ${holder.pid} (${visible(holder.by).slice(0, 40)}), for ${Math.max(0, Math.round((now - holder.since) / 1000))} s`,
});

/** The holder of a lock; null when it is free or cannot be read. */
export const lockHolder = async (
  system: LockedSystem,
  kind: LockKind,
  directory: string | null,
): Promise<LockHolder | null> => {
  if (directory === null) return null;
  try {
    const found = readLock(join(directory, LOCKS[kind].file));
    const holder = found === null ? null : parseHolder(found.text);
    return found !== null && holder !== null && (await isHeld(system, holder, found, Date.now()))
      ? holder
      : null;
  } catch {
    return null; // not ours to read
  }
};
