import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { visible } from '../../model/text.ts';
import { readRecorded } from './read.ts';
import type { Reading } from './table.ts';

/** Five thousand processes with long command lines are about 5 MiB; a file of this size is something else. */
export const MOST_BYTES = 32 * 1024 ** 2;

const SENTENCES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'cannot be read: permission denied',
  EPERM: 'cannot be read: permission denied',
  EISDIR: 'is a directory: name a file, or - for standard input',
  ENOTDIR: 'does not exist: a part of its path is not a directory',
  ELOOP: 'cannot be read: too many symbolic links',
};

const explain = (error: unknown): string => {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  return SENTENCES[code] ?? `cannot be read (${code})`;
};

/** What a shell hands over with `<(…)` or a redirection is open already; any other pipe or device may never say a word. */
const INHERITED = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/self\/fd\/\d+)$/;

/** All of it, or null when there is more than we read. Stops at the limit: a pipe may never end. */
const drain = async (stream: Readable): Promise<Buffer | null> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    if (size > MOST_BYTES) return null;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
};

/** Reads FILE, or standard input for `-`, and understands it as a process table. */
export const loadRecorded = async (
  path: string,
  { stdin = process.stdin as Readable, now = Date.now() }: { stdin?: Readable; now?: number } = {},
): Promise<Reading> => {
  const name = path === '-' ? 'Standard input' : visible(path);
  try {
    let moment = now;
    if (path !== '-') {
      const about = await stat(path);
      if (about.isDirectory()) return { ok: false, message: `${name} ${SENTENCES.EISDIR}.` };
      if (!about.isFile() && !INHERITED.test(path))
        return { ok: false, message: `${name} is not a regular file: name a file, or - for standard input.` };
      // A listing without its own date was made no later than it was saved.
      if (about.isFile()) moment = Math.min(now, about.mtimeMs);
      if (about.size > MOST_BYTES) return { ok: false, message: tooLarge(name) };
    }
    const bytes = await drain(path === '-' ? stdin : createReadStream(path));
    if (bytes === null) return { ok: false, message: tooLarge(name) };
    return readRecorded(bytes, { now: moment, name });
  } catch (error) {
    return { ok: false, message: `${name} ${explain(error)}.` };
  }
};

const tooLarge = (name: string): string =>
  `${name} is larger than ${MOST_BYTES / 1024 ** 2} MiB, more than any process table: nothing was read.`;
