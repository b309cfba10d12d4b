import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import {
  belongsToUs,
  errorSentence,
  linkUnlessTaken,
  readOwnTail,
  replaceOwn,
  writeWhole,
} from '../observe/state/own-file.ts';
import { liesWithUs, makeStateDirectory } from '../observe/state/state-directory.ts';
import { Unfit } from './settings-edit.ts';

/** No settings file is that long. */
const MOST_BYTES = 1024 ** 2;
const BACKUP = '.reaptop-backup';
/** In the state directory: what each file was before, and what we made of it. */
const RECORD = 'hook-settings.json';

/** The text of a settings file; null when there is none. Throws `Unfit` for what must not be edited. */
export const readSettings = (path: string, within: string | null = null): string | null => {
  try {
    return readFit(path, within);
  } catch (error) {
    // A directory that we may not enter, a disk that fails: a sentence about the file, as for what it holds.
    throw error instanceof Unfit ? error : new Unfit(errorSentence(error));
  }
};

/** A project comes from others: what it calls its settings must lie in it. */
const refuseOutside = (path: string, within: string): void => {
  const there = existsSync(path) ? path : existsSync(dirname(path)) ? dirname(path) : within;
  const [real, project] = [realpathSync(there), realpathSync(within)];
  if (real !== project && !real.startsWith(`${project}/`)) throw new Unfit('it leads out of the project');
};

const readFit = (path: string, within: string | null): string | null => {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined && lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    throw new Unfit('it is a broken link');
  if (within !== null) refuseOutside(path, within);
  if (stat === undefined) {
    if (!liesWithUs(path)) throw new Unfit('its directory belongs to another user');
    return null;
  }
  if (!stat.isFile()) throw new Unfit('it is not a regular file');
  // What we write in its place is ours: another user's file would change its owner.
  if (!belongsToUs(stat)) throw new Unfit('it belongs to another user');
  if (stat.nlink > 1)
    throw new Unfit('it has a second name (a hard link), which would keep the old settings');
  if (stat.size > MOST_BYTES) throw new Unfit('it is longer than 1 MiB');
  const bytes = readFileSync(path);
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) throw new Unfit('it is not UTF-8');
  return text;
};

/** The file was changed after we read it. */
export class Changed extends Error {}

/** On the disk, whole, under another name; `put` gives it the one it is for. Nothing is left of it if that fails. */
const writeBeside = (path: string, text: string, like: Stats | null, put: (draft: string) => void): void => {
  const draft = `${path}.${process.pid}.tmp`;
  rmSync(draft, { force: true });
  const fd = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    writeWhole(fd, text);
    if (like !== null) {
      if (fstatSync(fd).gid !== like.gid) fchownSync(fd, -1, like.gid);
      fchmodSync(fd, like.mode & 0o7777);
    }
    fsyncSync(fd);
    put(draft);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
};

/** Replaces it as a whole, unless it is not what we read any more; a link stays a link, the mode and group stay. */
const writeSettings = (path: string, before: string | null, after: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  const target = existsSync(path) ? realpathSync(path) : path;
  const like = statSync(target, { throwIfNoEntry: false }) ?? null;
  const write = (draft: string): void => {
    if (like === null) chmodSync(draft, 0o644);
    // A file that came into being meanwhile keeps its name: link fails where rename would replace it.
    if (before === null) {
      if (!linkUnlessTaken(draft, target)) throw new Changed();
      return;
    }
    if (!existsSync(target) || readFileSync(target, 'utf8') !== before) throw new Changed();
    renameSync(draft, target);
  };
  writeBeside(target, after, like, write);
};

interface Before {
  readonly before: string | null;
  readonly after: string;
}

const recordOf = (directory: string | null): Record<string, Before> => {
  try {
    const value: unknown = JSON.parse(
      directory === null ? '{}' : (readOwnTail(join(directory, RECORD), 16 * MOST_BYTES) ?? '{}'),
    );
    const entries = Object.entries((value ?? {}) as Record<string, Before>);
    return Object.fromEntries(
      entries.filter(
        ([, entry]) =>
          typeof entry?.after === 'string' && (entry.before === null || typeof entry.before === 'string'),
      ),
    );
  } catch {
    return {}; // unreadable: then hooks are taken out one by one
  }
};

const remember = (directory: string | null, path: string, entry: Before | null): void => {
  if (directory === null) return;
  try {
    const { [path]: _, ...others } = recordOf(directory);
    makeStateDirectory(directory);
    replaceOwn(
      join(directory, RECORD),
      JSON.stringify(entry === null ? others : { ...others, [path]: entry }),
    );
  } catch {
    // Without it hooks are taken out one by one, which changes no other setting either.
  }
};

/**
 * Writes new settings. What was there before our first change is kept beside it, whole, and remembered byte for byte.
 * Throws `Changed` where another program wrote the file meanwhile; gives a sentence where it cannot be written. `key`:
 * what it is remembered under, for a second thing in the same file.
 */
export const addHooks = (
  path: string,
  before: string | null,
  after: string,
  directory: string | null,
  key = path,
): string | null => {
  const known = recordOf(directory)[key];
  // A second installation of ours on top of the first: what was before the first is still what to go back to.
  const isOnTop = known?.after === before;
  const backup = `${path}${BACKUP}`;
  try {
    if (before !== null && !(isOnTop && existsSync(backup)))
      writeBeside(backup, before, null, draft => renameSync(draft, backup));
    writeSettings(path, before, after);
  } catch (error) {
    if (error instanceof Changed) throw error;
    return errorSentence(error);
  }
  remember(directory, key, { before: isOnTop ? known.before : before, after });
  return null;
};

/** What the file was before we changed it; undefined: it was changed since, or that is unknown. */
export const beforeInstall = (
  key: string,
  now: string,
  directory: string | null,
): string | null | undefined => {
  const known = recordOf(directory)[key];
  return known?.after === now ? known.before : undefined;
};

/** Writes the settings without ours; null: there were none, so there is to be no file. Throws as `install` does. */
export const removeHooks = (
  path: string,
  before: string,
  after: string | null,
  directory: string | null,
  key = path,
): string | null => {
  try {
    if (after !== null) writeSettings(path, before, after);
    else {
      if (readFileSync(path, 'utf8') !== before) throw new Changed();
      rmSync(path);
      if (readdirSync(dirname(path)).length === 0) rmdirSync(dirname(path));
    }
    const backup = `${path}${BACKUP}`;
    if (after !== null && existsSync(backup) && readFileSync(backup, 'utf8') === after) rmSync(backup);
  } catch (error) {
    if (error instanceof Changed) throw error;
    return errorSentence(error);
  }
  remember(directory, key, null);
  return null;
};
