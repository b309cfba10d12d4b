import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import { isJsonObject } from '../../model/json.ts';
import type { ProcessFacts } from '../../model/process.ts';
import { endOfJson } from '../../model/redact.ts';
import { visible } from '../../model/text.ts';
import type { System } from '../system.ts';
import { readLooseJson, readOwnJson, SCHEMA } from './json.ts';
import { MOST_ROWS, readListing, WHOLE_PS } from './listing.ts';
import { type ReadTable, type RecordedTable, tableOf } from './table.ts';

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
): Promise<ReadTable> => {
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
    return (await readMac(bytes)) ?? readRecorded(bytes, { now: moment, name });
  } catch (error) {
    return { ok: false, message: `${name} ${explain(error)}.` };
  }
};

/** What `doctor --bundle` wrote on a Mac; null: something else. */
const readMac = async (bytes: Buffer): Promise<ReadTable | null> => {
  if (!/^\s*\{\s*"bundle"\s*:/.test(bytes.toString('utf8', 0, 64))) return null;
  const { readBundle } = await import('../darwin/bundle.ts');
  const parsed = parse(decode(bytes));
  const table = parsed !== null && isJsonObject(parsed.value) ? await readBundle(parsed.value) : null;
  return table === null ? null : { ok: true, table };
};

const tooLarge = (name: string): string =>
  `${name} is larger than ${MOST_BYTES / 1024 ** 2} MiB, more than any process table: nothing was read.`;

export interface ReadOptions {
  /** Now, in ms: the moment of a listing that does not tell its own. */
  readonly now: number;
  /** What to call the input in sentences. */
  readonly name?: string;
}

const NEEDED = `needed is what "reaptop --once --json" writes, or a ps listing with its header row, with at least the columns PID and COMMAND (${WHOLE_PS})`;

/** UTF-16 is what PowerShell's `>` writes. */
const decode = (input: string | Buffer): string => {
  if (typeof input === 'string') return input.replace(/^\u{feff}/u, '');
  if (input[0] === 0xff && input[1] === 0xfe) return input.toString('utf16le').slice(1);
  return input.toString('utf8').replace(/^\u{feff}/u, '');
};

const failed = (message: string): ReadTable => ({ ok: false, message });

/** `[me@box ~]$ ps` is a prompt; JSON goes on with a bracket, a quote, a number or its end. */
const looksJson = (text: string): boolean => /^\s*(?:\{|\[\s*(?:[{["\]\d]|$))/.test(text);

/** Nothing but opening brackets: V8 takes ten seconds to refuse 30 MB of them. */
const BOTTOMLESS = /^[\s{[]{500}/;

const parse = (text: string): { value: unknown } | null => {
  if (BOTTOMLESS.test(text)) return null;
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null; // the caller says what is wrong with it, in words about tables
  }
};

/** One object a line; a line that is none is counted, so that a log cut in the middle still counts for what it has. */
const parseLines = (text: string): { items: unknown[]; skipped: number } | null => {
  const lines = text.split('\n').filter(line => line.trim() !== '');
  const items: unknown[] = [];
  let skipped = 0;
  for (const line of lines) {
    if (items.length === MOST_ROWS || skipped === MOST_ROWS) break;
    const parsed = parse(line);
    if (parsed !== null && isJsonObject(parsed.value)) items.push(parsed.value);
    else skipped += 1;
    // The first line decides: pretty-printed JSON that broke off is not JSON lines.
    if (items.length === 0) return null;
  }
  return items.length === 0 ? null : { items, skipped };
};

const readDocument = (value: unknown, skipped: number, options: ReadOptions, name: string): ReadTable => {
  if (isJsonObject(value) && typeof value.schema === 'number') {
    if (value.schema !== SCHEMA)
      return failed(`${name} has schema ${value.schema}; this reaptop reads schema ${SCHEMA}.`);
    if (!Array.isArray(value.processes)) return failed(`${name} has no list of processes in it: ${NEEDED}.`);
    const { rows, around } = readOwnJson(value);
    return { ok: true, table: tableOf(rows, around, options.now) };
  }
  const items = isJsonObject(value) ? (Array.isArray(value.processes) ? value.processes : [value]) : value;
  if (Array.isArray(items)) {
    const { rows, around } = readLooseJson(items, skipped);
    if (rows.length > 0) return { ok: true, table: tableOf(rows, around, options.now) };
  }
  return failed(`${name} is JSON, but there is no process in it: ${NEEDED}.`);
};

const readJson = (text: string, options: ReadOptions, name: string): ReadTable => {
  const whole = parse(text);
  if (whole !== null) return readDocument(whole.value, 0, options, name);
  const lines = parseLines(text);
  if (lines !== null) {
    // A log of our own snapshots: the last one is the one to look at.
    const snapshot = lines.items.findLast(item => isJsonObject(item) && Array.isArray(item.processes));
    return readDocument(snapshot ?? lines.items, lines.skipped, options, name);
  }
  return failed(
    endOfJson(text, text.search(/[{[]/)) === -1
      ? `${name} is JSON that ends in the middle: record it again, and let the command finish.`
      : `${name} starts like JSON but is not valid JSON: ${NEEDED}.`,
  );
};

/** Understands a recorded process table, or says in a sentence why it cannot. Never throws. */
export const readRecorded = (input: string | Buffer, options: ReadOptions): ReadTable => {
  const name = options.name ?? 'The recorded table';
  const text = decode(input);
  if (text.trim() === '') return failed(`${name} is empty: ${NEEDED}.`);
  if (text.includes('\0')) return failed(`${name} is not text (it holds NUL bytes): ${NEEDED}.`);
  if (looksJson(text)) return readJson(text, options, name);
  const listing = readListing(text);
  if (listing === null) return failed(`${name} has no header row: ${NEEDED}.`);
  if (listing.rows.length === 0)
    return failed(`${name} has a header row but no process below it: ${NEEDED}.`);
  const around = { takenAt: null, host: {}, tmux: [], warnings: listing.warnings };
  return { ok: true, table: tableOf(listing.rows, around, options.now) };
};

const READ_ONLY = 'a recorded table: nothing can be signalled';

/** A table that never changes. It answers every question about its processes and touches none. */
export const recordedSystem = (table: RecordedTable): System => {
  const byPid = new Map<number, ProcessFacts>(table.look.processes.map(p => [p.pid, p]));
  const told = <T>(asked: readonly Identity[], of: (facts: ProcessFacts) => T | null) => {
    const found = new Map<IdentityKey, T>();
    for (const identity of asked) {
      const facts = byPid.get(identity.pid);
      const value = facts?.start === identity.start ? of(facts) : null;
      if (value !== null) found.set(keyOf(identity), value);
    }
    return found;
  };
  return {
    backend: 'recorded',
    readOnly: READ_ONLY,
    inventedRecords: () => ({
      tmux: table.tmux,
      sessions: [],
      workers: [],
      strange: [],
      readings: [],
      judged: table.judged,
    }),
    sample: async () => table.look,
    environ: async targets => told(targets, ({ env }) => env),
    details: async requests => told(requests, ({ details }) => details),
    presence: pid => {
      const process = byPid.get(pid);
      if (process === undefined) return { status: 'gone' };
      const { start, state, ppid, pgid, sid, rss } = process;
      return { status: 'present', identity: { pid, start }, state, ppid, pgid, sid, rss };
    },
    proportionalMemory: async () => null,
    follow: () => {},
    close: () => {},
  };
};
