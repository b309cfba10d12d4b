import { once } from 'node:events';
import { closeSync, constants, fstatSync } from 'node:fs';
import { join } from 'node:path';
import { destination, pino } from 'pino';
import { showableJson } from '../../model/text.ts';
import { afterWholeLine, openForAppend } from '../../observe/state/lines-file.ts';
import { errorSentence, openOwn } from '../../observe/state/own-file.ts';
import { makeStateDirectory, statePlace } from '../../observe/state/state-directory.ts';
import { AUDIT_FILE, type AuditLine } from './audit-lines.ts';

/** Writes one JSON line, whole before it returns. Never throws: a warning comes back instead. */
export const writeAudit = (
  line: AuditLine,
  { directory = statePlace().directory }: { readonly directory?: string | null | undefined } = {},
): string | null => {
  if (directory === null) return 'the audit log is off: there is no directory for it';
  const path = join(directory, AUDIT_FILE);
  try {
    makeStateDirectory(directory);
    const fd = openForAppend(path);
    try {
      append(fd, line);
    } finally {
      closeSync(fd);
    }
    return null;
  } catch (error) {
    return `the audit log ${path} could not be written: ${errorSentence(error)}`;
  }
};

const append = (fd: number, line: AuditLine): void => {
  let failed: unknown = null;
  // It gets the file opened: pino itself would follow a symbolic link, and wait for a FIFO. One write per line, so
  // that two runs do not mix theirs; busy is a failure like others: it would be tried again forever.
  const file = destination({ fd, sync: true, retryEAGAIN: () => false });
  file.on('error', error => {
    failed ??= error;
  });
  const log = pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: level => ({ level }) },
      hooks: { streamWrite: text => afterWholeLine(fd, showableJson(text)) },
    },
    file,
  );
  log.info(line);
  if (failed !== null) throw failed;
};

/** The file being written and two older ones are kept. */
const OLDER_FILES = 2;

/** `audit.jsonl` → `audit.1.jsonl` → `audit.2.jsonl` → gone. */
const nameOf = (age: number | Date | null): string =>
  age === null ? AUDIT_FILE : AUDIT_FILE.replace('.jsonl', `.${Number(age)}.jsonl`);

/** Nothing where it cannot be written: the next write reports why, once. The library would follow a link. */
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
