import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import type { AskedBy } from '../../judge/plan/policy.ts';
import type { Outcome, Plan } from '../../model/plan.ts';
import { errorSentence, makeStateDirectory, stateDirectory } from './state-directory.ts';

/** Some 10,000 acts a file; the file being written and two older ones are kept. */
const ROTATE_BYTES = 4 * 1024 * 1024;
const OLDER_FILES = 2;

export interface Act {
  readonly by: AskedBy;
  readonly plan: Plan;
  readonly outcomes: readonly Outcome[];
  readonly durationMs: number;
  /** What `sweep` did to tmux sessions and files. */
  readonly sessions?: readonly object[] | undefined;
  readonly files?: readonly object[] | undefined;
  /** More to remember: the session that ended, the finding, why the run stopped. */
  readonly note?: string | undefined;
}

/** Writes one JSON line, on disk before it returns. Never throws: a warning comes back instead. */
export const auditAct = (
  act: Act,
  {
    directory = stateDirectory(),
    rotateBytes = ROTATE_BYTES,
  }: { readonly directory?: string | null; readonly rotateBytes?: number } = {},
): string | null => {
  if (directory === null) return 'the audit log is off: HOME is not set';
  const path = join(directory, 'audit.jsonl');
  let fd: number | null = null;
  try {
    makeStateDirectory(directory);
    fd = openForAppend(path);
    if (fstatSync(fd).size >= rotateBytes) {
      closeSync(fd);
      fd = null;
      rotate(path);
      fd = openForAppend(path);
    }
    const target = fd;
    let failed: unknown = null;
    // A destination of our own: pino's throws from a later tick when the disk is full.
    const log = pino(
      { base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: level => ({ level }) } },
      {
        write(line: string): void {
          try {
            writeWhole(target, line);
          } catch (error) {
            failed = error;
          }
        },
      },
    );
    log.info(record(act));
    if (failed !== null) throw failed;
    return null;
  } catch (error) {
    return `the audit log ${path} could not be written: ${errorSentence(error)}`;
  } finally {
    if (fd !== null) closeSync(fd);
  }
};

/** Never through a symbolic link, and for this user alone even if somebody made it before us. */
const openForAppend = (path: string): number => {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const fd = openSync(path, flags, 0o600);
  fchmodSync(fd, 0o600);
  return fd;
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

const record = ({ by, plan, outcomes, durationMs, note, sessions, files }: Act): object => ({
  by,
  plan: {
    steps: plan.steps.map(({ pid, start, name, signal, rss, why }) => ({
      pid,
      start,
      name,
      signal,
      rss,
      why,
    })),
    refused: plan.refused.map(({ pid, start, name, why }) => ({ pid, start, name, why })),
    files: plan.files,
    bytes: plan.bytes,
  },
  outcomes,
  freed: outcomes.reduce((sum, outcome) => sum + outcome.freed, 0),
  durationMs: Math.round(durationMs),
  ...(sessions === undefined ? {} : { sessions }),
  ...(files === undefined ? {} : { files }),
  ...(note === undefined ? {} : { note }),
});
