import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
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
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isOurs } from '../../observe/files/read-bounded.ts';
import { errorSentence, readOwnTail, replaceOwn, writeWhole } from '../../observe/state/own-file.ts';
import { makeStateDirectory } from '../../observe/state/state-directory.ts';
import { Unfit } from './settings-edit.ts';

/** Nobody's settings are as long. */
const MOST_BYTES = 1024 ** 2;
const BACKUP = '.reaptop-backup';
/** In the state directory: what each file was before, and what we made of it. */
const RECORD = 'hook-settings.json';

/** The text of a settings file; null when there is none. Throws `Unfit` for what must not be edited. */
export const readSettings = (path: string): string | null => {
  try {
    return readFit(path);
  } catch (error) {
    // A directory that we may not enter, a disk that fails: a sentence about the file, as for what it holds.
    throw error instanceof Unfit ? error : new Unfit(errorSentence(error));
  }
};

const readFit = (path: string): string | null => {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined)
      throw new Unfit('it is a link that leads nowhere');
    return null;
  }
  if (!stat.isFile()) throw new Unfit('it is not a regular file');
  if (!isOurs(stat)) throw new Unfit('it belongs to another user');
  if (stat.size > MOST_BYTES) throw new Unfit('it is longer than 1 MiB');
  const bytes = readFileSync(path);
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) throw new Unfit('it is not UTF-8');
  return text;
};

/** Replaces it as a whole; a link stays a link, and the file keeps its mode. */
const writeSettings = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true });
  const target = existsSync(path) ? realpathSync(path) : path;
  const mode = existsSync(target) ? statSync(target).mode & 0o777 : 0o644;
  const draft = `${target}.${process.pid}.tmp`;
  rmSync(draft, { force: true });
  const fd = openSync(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  try {
    writeWhole(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  try {
    chmodSync(draft, mode);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
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

/** Writes new settings. The first time what was there before is kept beside it, and remembered byte for byte. */
export const install = (
  path: string,
  before: string | null,
  after: string,
  directory: string | null,
): string | null => {
  const backup = `${path}${BACKUP}`;
  const known = recordOf(directory)[path];
  try {
    if (before !== null && !existsSync(backup)) {
      const fd = openSync(backup, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
      try {
        writeWhole(fd, before);
      } finally {
        closeSync(fd);
      }
    }
    writeSettings(path, after);
  } catch (error) {
    return errorSentence(error);
  }
  // A second installation of ours on top of the first: what was before the first is still what to go back to.
  remember(directory, path, { before: known?.after === before ? known.before : before, after });
  return null;
};

/** What the file was before we touched it, if nobody else has since; undefined: somebody has, or nobody knows. */
export const beforeInstall = (
  path: string,
  now: string,
  directory: string | null,
): string | null | undefined => {
  const known = recordOf(directory)[path];
  return known?.after === now ? known.before : undefined;
};

/** Writes the settings without ours; null: there were none, so there is to be no file. */
export const uninstall = (path: string, after: string | null, directory: string | null): string | null => {
  try {
    if (after !== null) writeSettings(path, after);
    else {
      rmSync(path);
      if (readdirSync(dirname(path)).length === 0) rmdirSync(dirname(path));
    }
    const backup = `${path}${BACKUP}`;
    if (after !== null && existsSync(backup) && readFileSync(backup, 'utf8') === after) rmSync(backup);
  } catch (error) {
    return errorSentence(error);
  }
  remember(directory, path, null);
  return null;
};
