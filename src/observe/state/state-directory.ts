import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  type Stats,
} from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { belongsToUs } from './own-file.ts';

export interface StatePlace {
  /** Where lock, audit log and the rest of our state go; null when there is no place for them. */
  readonly directory: string | null;
  /** Why it is not where the environment says, or nowhere. */
  readonly warning: string | null;
}

const BELOW_HOME = ['.local', 'state', 'reaptop'];

/**
 * `$XDG_STATE_HOME/reaptop`; a relative value is void by the XDG rules. Under sudo the environment may still name the
 * home of the user who called: nothing there may become root's, so our own home from passwd is taken instead.
 */
export const statePlace = (env: NodeJS.ProcessEnv = process.env): StatePlace => {
  const named = namedBy(env);
  if (named === null) return { directory: null, warning: 'HOME is not set' };
  if (liesWithUs(named)) return { directory: named, warning: null };
  const own = ownHome();
  const instead = own === null ? null : join(own, ...BELOW_HOME);
  const elsewhere = instead === null || !liesWithUs(instead) ? null : instead;
  return {
    directory: elsewhere,
    warning: `${named} is in another user's directory: ${elsewhere === null ? 'nothing is written' : `${elsewhere} is used instead`}`,
  };
};

export const stateDirectory = (env: NodeJS.ProcessEnv = process.env): string | null =>
  statePlace(env).directory;

const namedBy = (env: NodeJS.ProcessEnv): string | null => {
  const state = env.XDG_STATE_HOME;
  if (state !== undefined && isAbsolute(state)) return join(state, 'reaptop');
  const home = env === process.env ? homeOrNull() : env.HOME;
  return home != null && isAbsolute(home) ? join(home, ...BELOW_HOME) : null;
};

const homeOrNull = (): string | null => {
  try {
    return homedir();
  } catch {
    return null; // no HOME and no entry in passwd
  }
};

const ownHome = (): string | null => {
  try {
    return userInfo().homedir;
  } catch {
    return null; // no entry in passwd
  }
};

/** Whether what is already there of a path is ours; root's is no home that we could spoil. */
export const liesWithUs = (directory: string): boolean => {
  for (let at = directory; ; at = dirname(at)) {
    const there = statOrNull(at);
    if (there !== null) return belongsToUs(there) || (there.uid === 0 && at !== directory);
    if (at === dirname(at)) return true;
  }
};

const statOrNull = (path: string): Stats | null => {
  try {
    return lstatSync(path);
  } catch {
    return null; // not there, or below a file; making it reports that
  }
};

/** Makes it for this user alone. Throws what the file system says; the callers turn that into one warning. */
export const makeStateDirectory = (directory: string): void => {
  makeWithParents(directory);
  if (lstatSync(directory).isSymbolicLink()) throw new Error('it is a symbolic link');
  // Looked at and changed through one descriptor: a link put in its place meanwhile is not followed.
  const fd = openSync(
    directory,
    constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
  );
  try {
    const stat = fstatSync(fd);
    if (!belongsToUs(stat)) throw new Error('it belongs to another user');
    if ((stat.mode & 0o777) !== 0o700) fchmodSync(fd, 0o700);
  } finally {
    closeSync(fd);
  }
};

/**
 * Not `recursive: true`: below /proc and the like, Node 20 then tries the same mkdir forever. Others may make the same
 * directories at the same time: the second uses what is there.
 */
const makeWithParents = (directory: string): void => {
  if (make(directory) || directory === dirname(directory)) return;
  makeWithParents(dirname(directory));
  if (!make(directory)) throw new Error(`${dirname(directory)} takes no directory`);
};

/** False: there is no parent to make it in. What it is if it was there before is looked at afterwards. */
const make = (directory: string): boolean => {
  try {
    mkdirSync(directory, { mode: 0o700 });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST' && code !== 'ENOENT') throw error;
    return code === 'EEXIST';
  }
};
