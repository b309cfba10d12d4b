import { once } from 'node:events';
import { closeSync, constants, fstatSync } from 'node:fs';
import { join } from 'node:path';
import { errorSentence, openOwn } from '../../observe/state/own-file.ts';
import { AUDIT_FILE } from './lines.ts';

/** The file being written and two older ones are kept. */
const OLDER_FILES = 2;

/** `audit.jsonl` → `audit.1.jsonl` → `audit.2.jsonl` → gone. */
const nameOf = (age: number | Date | null): string =>
  age === null ? AUDIT_FILE : AUDIT_FILE.replace('.jsonl', `.${Number(age)}.jsonl`);

/** Nothing where it cannot be written: whoever writes next says why, once. The library would follow a link. */
const bytesIn = (path: string): number => {
  let fd: number;
  try {
    fd = openOwn(path, constants.O_RDWR);
  } catch {
    return 0;
  }
  try {
    return fstatSync(fd).size;
  } finally {
    closeSync(fd);
  }
};

/**
 * Puts a full log aside. Between two acts only, so that the two lines of one stay in one file, and by whoever holds
 * the run lock. The library only moves files: it writes later than we may signal, so lines are never given to it.
 * So many bytes are some thousands of acts.
 */
export const rotateAudit = async (directory: string, bytes = 4 * 1024 * 1024): Promise<string | null> => {
  const path = join(directory, AUDIT_FILE);
  if (bytesIn(path) < bytes) return null;
  try {
    const { createStream } = await import('rotating-file-stream');
    const log = createStream(nameOf, {
      path: directory,
      size: `${bytes}B`,
      rotate: OLDER_FILES,
      mode: 0o600,
    });
    await once(log, 'open');
    log.end();
    await once(log, 'close');
    return null;
  } catch (error) {
    return `the audit log ${path} could not be rotated: ${errorSentence(error)}`;
  }
};
