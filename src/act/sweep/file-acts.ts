import { linkSync, lstatSync, mkdirSync, renameSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { archivedName, type FileAct } from '../../judge/plan/sweep-plan.ts';
import { type HeldDirectory, identityOfInode, inDirectory, Unsafe } from '../held-directory.ts';
import { seenAs, whyUnsafe } from './sweep-facts.ts';

/** One act on one file, for the log and the screen. */
export interface FileRecord {
  readonly act: FileAct['act'];
  readonly path: string;
  /** Where it is now; null when it is gone or was left alone. */
  readonly to: string | null;
  readonly bytes: number;
  readonly outcome: 'done' | 'gone' | 'skipped' | 'failed';
  readonly why: string;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is used up',
  EXDEV: 'its archive is on another file system',
  ENOENT: 'it was already gone',
};

/** Through the directory that was planned, and into an archive that lies where it was planned. */
const change = (act: FileAct, held: HeldDirectory, now: number): string | null => {
  const name = basename(act.path);
  const { to } = act;
  if (to === null) {
    removeExactly(held, name, act.seen.file);
    return null;
  }
  inDirectory(act.root, dirname(to), within => {
    if (within.identity !== act.toWithin) throw new Unsafe(`${dirname(to)} was replaced`);
    makeDirectory(within, basename(to));
  });
  return inDirectory(act.root, to, archive => {
    const target = moveExactly(held, name, act.seen.file, archive, archivedName(name, now));
    return `${to}/${target}`;
  });
};

/** Why the planned file is not there as it was planned; null: it is. */
const whyChanged = (act: FileAct, held: HeldDirectory): { gone: boolean; why: string } | null => {
  if (held.identity !== act.seen.directory) return { gone: false, why: 'its directory was replaced' };
  const stat = held.stat(basename(act.path));
  if (stat === null) return { gone: true, why: 'it was already gone' };
  const unsafe = whyUnsafe(stat);
  if (unsafe !== null) return { gone: false, why: unsafe };
  const now = seenAs(stat, held);
  const same = now.file === act.seen.file && now.mtimeMs === act.seen.mtimeMs && now.size === act.seen.size;
  return same ? null : { gone: false, why: 'it changed after the plan was made' };
};

/** Looks once more, and acts on the very file that was looked at. Never throws. */
export const runFileAct = (act: FileAct, now = Date.now()): FileRecord => {
  const record = (outcome: FileRecord['outcome'], why: string, to: string | null = null): FileRecord => ({
    act: act.act,
    path: act.path,
    to,
    bytes: outcome === 'done' ? act.bytes : 0,
    outcome,
    why,
  });
  try {
    return inDirectory(act.root, dirname(act.path), held => {
      const changed = whyChanged(act, held);
      if (changed !== null) return record(changed.gone ? 'gone' : 'skipped', changed.why);
      const to = change(act, held, now);
      return held.stat(basename(act.path)) === null
        ? record('done', act.why, to)
        : record('failed', 'it came back at once', to);
    });
  } catch (error) {
    if (error instanceof Unsafe) return record('skipped', error.message);
    const code = codeOf(error);
    return record(code === 'ENOENT' ? 'gone' : 'failed', REASONS[code] ?? (error as Error).message);
  }
};

const MOST_NAMESAKES = 1000;

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? String(error);

const NO_SPACE = new Set(['ENOSPC', 'EDQUOT']);
/** No hard links here: FAT, some network mounts, and files of another owner where links to them are restricted. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

const isFile = (path: string, identity: string): boolean => {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && identityOfInode(stat) === identity;
};

/** Between a look and one of these, somebody else may be quicker. */
const CALLS = { linkSync, renameSync };
type FileCalls = typeof CALLS;

const SWAPPED = 'another file took its name at the last moment';

/** Gives a file the name it had; when that is taken again, it keeps the one it has and we say which. */
const putBack = (held: HeldDirectory, aside: string, name: string, calls: FileCalls): never => {
  try {
    calls.linkSync(held.at(aside), held.at(name));
    unlinkSync(held.at(aside));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') calls.renameSync(held.at(aside), held.at(name));
    else throw new Unsafe(`${SWAPPED}; that one is called ${aside} now`);
  }
  throw new Unsafe(SWAPPED);
};

/**
 * Removes one particular file. A name can change hands between a look and an unlink, and nothing unlinks
 * by inode: so the file is first given a random name, checked again, and put back if it is another.
 */
export const removeExactly = (
  held: HeldDirectory,
  name: string,
  identity: string,
  calls: FileCalls = CALLS,
): void => {
  const aside = `.${name.slice(0, 200)}.reaptop-${crypto.randomUUID().slice(-12)}`;
  try {
    calls.renameSync(held.at(name), held.at(aside));
  } catch (error) {
    // A full disk, the reason for many a sweep, may have no room for another name.
    if (!NO_SPACE.has(codeOf(error)) || !isFile(held.at(name), identity)) throw error;
    unlinkSync(held.at(name));
    return;
  }
  if (!isFile(held.at(aside), identity)) putBack(held, aside, name, calls);
  unlinkSync(held.at(aside));
};

/** Moves one particular file to a name that is free: link and remove, because rename silently replaces. */
export const moveExactly = (
  from: HeldDirectory,
  name: string,
  identity: string,
  to: HeldDirectory,
  wanted: string,
  calls: FileCalls = CALLS,
): string => {
  for (let n = 0; n < MOST_NAMESAKES; n++) {
    const target = n === 0 ? wanted : `${wanted}.${n}`;
    try {
      calls.linkSync(from.at(name), to.at(target));
    } catch (error) {
      if (codeOf(error) === 'EEXIST') continue;
      if (!NO_LINKS.has(codeOf(error))) throw error;
      if (to.stat(target) !== null) continue;
      calls.renameSync(from.at(name), to.at(target));
      if (isFile(to.at(target), identity)) return target;
      calls.renameSync(to.at(target), from.at(name));
      throw new Unsafe(SWAPPED);
    }
    if (!isFile(to.at(target), identity)) {
      unlinkSync(to.at(target)); // only the second name that was just made
      throw new Unsafe(SWAPPED);
    }
    removeExactly(from, name, identity, calls);
    return target;
  }
  throw new Error(`there are ${MOST_NAMESAKES} files of its name in the archive`);
};

/** The directory of that name, made when missing. */
export const makeDirectory = (within: HeldDirectory, name: string): void => {
  try {
    mkdirSync(within.at(name), { mode: 0o755 });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
};
