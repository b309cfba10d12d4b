import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { showableJson } from '../../model/text.ts';
import { errorSentence, openOwn } from '../../observe/state/own-file.ts';
import { makeStateDirectory, statePlace } from '../../observe/state/state-directory.ts';
import { AUDIT_FILE, type AuditLine } from './lines.ts';

/** Some thousands of acts a file; the file being written and two older ones are kept. */
const ROTATE_BYTES = 4 * 1024 * 1024;
const OLDER_FILES = 2;

export interface AuditOptions {
  readonly directory?: string | null | undefined;
  readonly rotateBytes?: number | undefined;
}

/** Writes one JSON line, whole before it returns. Never throws: a warning comes back instead. */
export const writeAudit = (
  line: AuditLine,
  { directory = statePlace().directory, rotateBytes = ROTATE_BYTES }: AuditOptions = {},
): string | null => {
  if (directory === null) return 'the audit log is off: there is no directory for it';
  const path = join(directory, AUDIT_FILE);
  let fd: number | null = null;
  try {
    makeStateDirectory(directory);
    fd = openForAppend(path);
    // Between two acts only: the two lines of one act stay in one file.
    if (line.event === 'intent' && fstatSync(fd).size >= rotateBytes) {
      closeSync(fd);
      fd = null;
      rotate(path);
      fd = openForAppend(path);
    }
    append(fd, line);
    return null;
  } catch (error) {
    return `the audit log ${path} could not be written: ${errorSentence(error)}`;
  } finally {
    if (fd !== null) closeSync(fd);
  }
};

const append = (fd: number, line: AuditLine): void => {
  let failed: unknown = null;
  // A destination of our own: pino's throws from a later tick when the disk is full.
  const log = pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: level => ({ level }) } },
    {
      write(text: string): void {
        try {
          const line = showableJson(text);
          writeWhole(fd, endsInMiddle(fd) ? `\n${line}` : line);
        } catch (error) {
          failed = error;
        }
      },
    },
  );
  log.info(line);
  if (failed !== null) throw failed;
};

/** For this user alone even if somebody made it before us. */
const openForAppend = (path: string): number => {
  const fd = openOwn(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
  fchmodSync(fd, 0o600);
  return fd;
};

/** A line that a full disk cut short must not swallow the next one. */
const endsInMiddle = (fd: number): boolean => {
  const { size } = fstatSync(fd);
  const last = Buffer.alloc(1);
  return size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
};

/** One write per line, so that two runs do not mix theirs; a short write (disk nearly full) is continued once more. */
const writeWhole = (fd: number, line: string): void => {
  const bytes = Buffer.from(line);
  let written = writeSync(fd, bytes);
  while (written < bytes.length) written += writeSync(fd, bytes, written);
};

/** `audit.jsonl` → `audit.1.jsonl` → `audit.2.jsonl` → gone. */
const rotate = (path: string): void => {
  const older = (n: number): string => (n === 0 ? path : path.replace(/\.jsonl$/, `.${n}.jsonl`));
  rmSync(older(OLDER_FILES), { force: true });
  for (let n = OLDER_FILES - 1; n >= 0; n -= 1) if (existsSync(older(n))) renameSync(older(n), older(n + 1));
};
