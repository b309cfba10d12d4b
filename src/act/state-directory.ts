import { chmodSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

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
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
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
  ELOOP: 'it is a symbolic link',
};
