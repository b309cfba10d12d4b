import { endOfJson } from '../../model/redact-json.ts';
import { isFields } from './fields.ts';
import { MOST_ROWS, readListing } from './listing.ts';
import { readLooseJson } from './loose-json.ts';
import { readOwnJson, SCHEMA } from './own-json.ts';
import { type Reading, tableOf } from './table.ts';

export interface ReadOptions {
  /** Now, in ms: the moment of a listing that does not tell its own. */
  readonly now: number;
  /** What to call the input in sentences. */
  readonly name?: string;
}

const NEEDED =
  'needed is what "reaptop --once --json" writes, or a ps listing with its header row, with at least the columns PID and COMMAND (ps -axwwo pid,ppid,pgid,tty,stat,rss,etime,command)';

/** UTF-16 is what PowerShell's `>` writes. */
const decode = (input: string | Buffer): string => {
  if (typeof input === 'string') return input.replace(/^\u{feff}/u, '');
  if (input[0] === 0xff && input[1] === 0xfe) return input.toString('utf16le').slice(1);
  return input.toString('utf8').replace(/^\u{feff}/u, '');
};

const failed = (message: string): Reading => ({ ok: false, message });

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
    if (parsed !== null && isFields(parsed.value)) items.push(parsed.value);
    else skipped += 1;
    // The first line decides: pretty-printed JSON that broke off is not JSON lines.
    if (items.length === 0) return null;
  }
  return items.length === 0 ? null : { items, skipped };
};

const readDocument = (value: unknown, skipped: number, options: ReadOptions, name: string): Reading => {
  if (isFields(value) && typeof value.schema === 'number') {
    if (value.schema !== SCHEMA)
      return failed(`${name} has schema ${value.schema}; this reaptop reads schema ${SCHEMA}.`);
    if (!Array.isArray(value.processes)) return failed(`${name} has no list of processes in it: ${NEEDED}.`);
    const { rows, around } = readOwnJson(value);
    return { ok: true, table: tableOf(rows, around, options.now) };
  }
  const items = isFields(value) ? (Array.isArray(value.processes) ? value.processes : [value]) : value;
  if (Array.isArray(items)) {
    const { rows, around } = readLooseJson(items, skipped);
    if (rows.length > 0) return { ok: true, table: tableOf(rows, around, options.now) };
  }
  return failed(`${name} is JSON, but there is no process in it: ${NEEDED}.`);
};

const readJson = (text: string, options: ReadOptions, name: string): Reading => {
  const whole = parse(text);
  if (whole !== null) return readDocument(whole.value, 0, options, name);
  const lines = parseLines(text);
  if (lines !== null) {
    // A log of our own snapshots: the last one is the one to look at.
    const snapshot = lines.items.findLast(item => isFields(item) && Array.isArray(item.processes));
    return readDocument(snapshot ?? lines.items, lines.skipped, options, name);
  }
  return failed(
    endOfJson(text, text.search(/[{[]/)) === -1
      ? `${name} is JSON that ends in the middle: record it again, and let the command finish.`
      : `${name} starts like JSON but is not valid JSON: ${NEEDED}.`,
  );
};

/** Understands a recorded process table, or says in a sentence why it cannot. Never throws. */
export const readRecorded = (input: string | Buffer, options: ReadOptions): Reading => {
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
