import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { destination, pino } from 'pino';
import { showableJson } from '../../model/text.ts';
import { afterWholeLine, openForAppend } from '../../observe/state/append.ts';
import { errorSentence } from '../../observe/state/own-file.ts';
import { makeStateDirectory, statePlace } from '../../observe/state/state-directory.ts';
import { AUDIT_FILE, type AuditLine } from './lines.ts';

export { rotateAudit } from './rotation.ts';

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
  // that two runs do not mix theirs; busy is a failure like others, for it would be tried again for ever.
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
