import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

/** `$XDG_STATE_HOME/reaptop`; null when there is neither that nor a home. A relative value is void by the XDG rules. */
export const stateDirectory = (env: NodeJS.ProcessEnv = process.env): string | null => {
  const state = env.XDG_STATE_HOME;
  if (state !== undefined && isAbsolute(state)) return join(state, 'reaptop');
  const home = env === process.env ? homeOrNull() : env.HOME;
  return home != null && isAbsolute(home) ? join(home, '.local', 'state', 'reaptop') : null;
};

const homeOrNull = (): string | null => {
  try {
    return homedir();
  } catch {
    return null; // no HOME and no entry in passwd
  }
};

/** Makes it for this user alone. Throws what the file system says; the callers turn that into one warning. */
export const makeStateDirectory = (directory: string): void => {
  makeWithParents(directory);
  chmodSync(directory, 0o700);
};

/** Not `recursive: true`: below /proc and the like, Node 20 then tries the same mkdir for ever. */
const makeWithParents = (directory: string): void => {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(directory).isDirectory()) return;
    const parent = dirname(directory);
    if (code !== 'ENOENT' || existsSync(parent)) throw error;
    makeWithParents(parent);
    mkdirSync(directory, { mode: 0o700 });
  }
};

export const errorSentence = (error: unknown): string => {
  const { code, message } = error as NodeJS.ErrnoException;
  const known = code === undefined ? undefined : SENTENCES[code];
  return known ?? message ?? String(error);
};

const SENTENCES: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EACCES: 'permission is denied',
  EPERM: 'permission is denied',
  ENOTDIR: 'a part of the path is no directory',
  EEXIST: 'something else is in its place',
  ENOENT: 'it cannot be made there',
  ELOOP: 'it is a symbolic link',
};
