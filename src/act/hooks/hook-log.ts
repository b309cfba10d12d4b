import { closeSync, constants, fchmodSync, fstatSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { visible } from '../../model/text.ts';
import { openOwn, writeWhole } from '../../observe/state/own-file.ts';
import { makeStateDirectory } from '../../observe/state/state-directory.ts';

/** Why a hook did what it did: one line each, for people. */
const HOOK_LOG = 'hook.log';

const MOST_BYTES = 1024 ** 2;

/** Not pino: loading it takes as long as the whole hook. What cannot be written is not missed. */
export const logHook = (
  directory: string | null,
  event: string,
  session: string | null,
  what: string,
): void => {
  if (directory === null) return;
  const path = join(directory, HOOK_LOG);
  try {
    makeStateDirectory(directory);
    const fd = openOwn(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
    try {
      fchmodSync(fd, 0o600);
      if (fstatSync(fd).size >= MOST_BYTES) renameSync(path, `${path}.1`);
      const line = { time: new Date().toISOString(), event, session, what: visible(what).slice(0, 500) };
      writeWhole(fd, `${JSON.stringify(line)}\n`);
    } finally {
      closeSync(fd);
    }
  } catch {
    // A full or read-only disk: the answer matters, not the line about it.
  }
};
