import { constants, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Identity } from '../../model/identity.ts';
import { asObject, type JsonObject, parseJson } from '../../model/json.ts';
import { bootId, identityAt, isRunning, pidNamespace } from '../../observe/one-process.ts';
import {
  linkUnlessTaken,
  openOwn,
  readOwnEnd,
  unlinkIfThere,
  writeAndClose,
} from '../../observe/state/own-file.ts';

/**
 * The one file lock, for hooks, builds, clean-ups and guard. A lock file appears whole, under a name that no one else
 * has, and is only ever replaced by one process at a time. Every function throws what the file system says: a link, a
 * FIFO or a directory in the lock's place, a full disk.
 */

/** Who holds a lock. A pid means something in its own boot and pid namespace only. */
export interface LockOwner extends Identity {
  readonly boot: string | null;
  readonly namespace: string | null;
  /** Distinguishes it from every other lock, also of the same process. */
  readonly nonce: string;
}

export interface FoundLock {
  readonly text: string;
  /** Epoch milliseconds; holders that stay touch their file. */
  readonly mtimeMs: number;
}

const MOST_BYTES = 16 * 1024;
/** Below the state directory: the locks of projects and of their files. */
export const LOCK_DIRECTORY = 'locks';

/** 64 bits of a text: names a file. */
const hash = (text: string): string => {
  let [a, b] = [0x811c9dc5, 0x01000193];
  for (let at = 0; at < text.length; at += 1) {
    a = Math.imul(a ^ text.charCodeAt(at), 0x01000193);
    b = Math.imul(b ^ text.charCodeAt(at), 0x85ebca6b) ^ (b >>> 13);
  }
  return `${(a >>> 0).toString(16).padStart(8, '0')}${(b >>> 0).toString(16).padStart(8, '0')}`;
};

export const lockPath = (stateDirectory: string, key: string): string =>
  join(stateDirectory, LOCK_DIRECTORY, `${hash(key)}.json`);

/** Not from node:crypto, which takes longer to load than a hook has. */
const nonce = (): string =>
  `${process.pid}-${process.hrtime.bigint()}-${Math.random().toString(36).slice(2)}`;

/** A lock of this process, or of another one that it speaks for. */
export const ownerOf = (
  identity: Identity = identityAt(process.pid) ?? { pid: process.pid, start: '' },
): LockOwner => ({
  pid: identity.pid,
  start: identity.start,
  boot: bootId(),
  namespace: pidNamespace(),
  nonce: nonce(),
});

/** What a lock says about its holder; null: not a lock of ours, or torn by a crash of the machine. */
export const parseOwner = (fields: JsonObject): LockOwner | null => {
  const { pid, start, boot = null, namespace = null, nonce: own = '' } = fields;
  const isText = (value: unknown): boolean => value === null || typeof value === 'string';
  const sound = Number.isInteger(pid) && typeof start === 'string' && typeof own === 'string';
  return sound && isText(boot) && isText(namespace)
    ? ({ pid, start, boot, namespace, nonce: own } as LockOwner)
    : null;
};

export const parseFields = (text: string): JsonObject => {
  const parsed = parseJson(text);
  return (parsed.ok ? asObject(parsed.value) : null) ?? {};
};

/**
 * `elsewhere`: in another boot, machine or pid namespace, where its number means nothing to us. `unknown`: there is no
 * /proc.
 */
export type OwnerState = 'runs' | 'ended' | 'elsewhere' | 'unknown';

const HERE = { bootId, pidNamespace, isRunning };

export const lockState = (owner: LockOwner, here = HERE): OwnerState => {
  const isElsewhere = (theirs: string | null, ours: string | null): boolean =>
    theirs !== null && ours !== null && theirs !== ours;
  if (isElsewhere(owner.boot, here.bootId()) || isElsewhere(owner.namespace, here.pidNamespace()))
    return 'elsewhere';
  const running = here.isRunning(owner);
  return running === null ? 'unknown' : running ? 'runs' : 'ended';
};

/** Written beside, under a name that is no other process's, not even in another pid namespace. */
const writeDraft = (path: string, text: string): string => {
  const draft = `${path}.${nonce()}.tmp`;
  const fd = openOwn(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL);
  writeAndClose(fd, draft, text);
  return draft;
};

export const readLock = (path: string): FoundLock | null => {
  const found = readOwnEnd(path, MOST_BYTES);
  return found === null ? null : { text: found.text, mtimeMs: found.mtimeMs };
};

/** Takes it, or says what is there; null: what was there has gone meanwhile. */
export const tryLock = (path: string, text: string, read = readLock): 'taken' | FoundLock | null =>
  linkUnlessTaken(writeDraft(path, text), path) ? 'taken' : read(path);

/** Replacing takes a millisecond. */
const TURN_MS = 5000;
/** A process killed while it replaced a lock leaves its turn, which is replaced in the same way. */
const MOST_TURNS = 3;

/** There is one turn, by name, for each stale lock: only its owner may replace that lock. */
const takeTurn = (path: string, stale: string, depth: number): { path: string; text: string } | null => {
  const turn = `${path}.${hash(stale)}.turn`;
  const text = JSON.stringify(ownerOf());
  const found = tryLock(turn, text);
  if (found === 'taken') return { path: turn, text };
  if (found === null || depth >= MOST_TURNS) return null;
  const owner = parseOwner(parseFields(found.text));
  const state = owner === null ? 'ended' : lockState(owner);
  const isOld = Math.abs(Date.now() - found.mtimeMs) >= TURN_MS;
  if (state === 'runs' || (state !== 'ended' && !isOld)) return null;
  return replaceStale(turn, found, text, depth + 1) ? { path: turn, text } : null;
};

/**
 * Puts ours in the place of a lock that is stale, if that is still there. Its name is never free in between, and of
 * several who saw the same stale lock one gets it.
 */
export const replaceStale = (
  path: string,
  stale: FoundLock,
  text: string,
  depth = 0,
  read = readLock,
): boolean => {
  const turn = takeTurn(path, stale.text, depth);
  if (turn === null) return false;
  try {
    if (read(path)?.text !== stale.text) return false;
    const draft = writeDraft(path, text);
    try {
      renameSync(draft, path);
    } catch (error) {
      unlinkIfThere(draft);
      throw error;
    }
    return true;
  } finally {
    removeLock(turn.path, turn.text);
  }
};

/** Gives back a lock with this text; any other stays. */
export const removeLock = (path: string, text: string): void => {
  try {
    if (readLock(path)?.text === text) unlinkIfThere(path);
  } catch {
    // It is stale as soon as its holder has ended.
  }
};
