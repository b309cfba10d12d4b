import { join } from 'node:path';
import { AUDIT_FILE } from '../act/record/lines.ts';
import type { Outcome } from '../model/plan.ts';
import { visible } from '../model/text.ts';
import { parseDate } from '../model/time.ts';
import { FollowedLines } from '../observe/state/follow-lines.ts';
import { summarise } from '../words/outcomes.ts';
import { nameAndPid } from '../words/process.ts';
import type { LogEntry, LogLine, LogRow } from './live.ts';

const TAIL_BYTES = 256 * 1024;

/** Acts that have begun and not ended, and acts of our own: more than a few at once there never are. */
const MOST_OPEN = 64;

/** Named in the line itself; the entry has all of them. */
const NAMED = 2;

type Fields = Readonly<Record<string, unknown>>;

const listOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.filter(one => typeof one === 'object' && one !== null) : [];
const textOf = (value: unknown): string => (typeof value === 'string' ? visible(value) : '');

const processRow = (fields: Fields): LogRow => ({
  what: textOf(fields.outcome) || textOf(fields.signal),
  pid: typeof fields.pid === 'number' ? fields.pid : null,
  name: textOf(fields.name),
  bytes: typeof fields.freed === 'number' ? fields.freed : 0,
  why: textOf(fields.why),
});

const choreRow = (fields: Fields): LogRow => ({
  what: textOf(fields.outcome),
  pid: null,
  name: [textOf(fields.act), textOf(fields.path) || textOf(fields.target) || textOf(fields.session)]
    .filter(Boolean)
    .join(' '),
  bytes: 0,
  why: textOf(fields.why),
});

/** `clean: 2 ended, 96 MiB freed: lean-lsp-mcp (3402), lake serve (3440)`: who asked, what became of how many, and of whom. */
export const actText = (by: string, summary: string, rows: readonly LogRow[]): string => {
  const named = rows.slice(0, NAMED).map(({ name, pid }) => (pid === null ? name : nameAndPid(name, pid)));
  const more = rows.length > NAMED ? ` and ${rows.length - NAMED} more` : '';
  return `${by}: ${summary}${named.length === 0 ? '' : `: ${named.join(', ')}${more}`}`;
};

/** What everybody's audit lines tell: the acts of earlier runs at first, then whatever another reaptop does meanwhile. */
export class ActLog {
  readonly #lines: FollowedLines;
  readonly #intents = new Map<string, Fields>();

  constructor(directory: string | null, bytes = TAIL_BYTES) {
    this.#lines = new FollowedLines(directory === null ? null : join(directory, AUDIT_FILE), bytes);
  }

  /** The acts that ended since the last time; ours are told as they happen and not again. */
  next(): readonly LogLine[] {
    return this.#lines.next().flatMap(line => this.#read(line));
  }

  /** The first line of a tail is usually half a line: whatever does not parse is passed over. */
  #read(line: string): readonly LogLine[] {
    let fields: Fields;
    try {
      fields = JSON.parse(line) as Fields;
    } catch {
      return [];
    }
    const id = String(fields?.id);
    if (fields?.event === 'intent') this.#begin(id, fields);
    const at = parseDate(String(fields?.time));
    if (at === null || !Array.isArray(fields.outcomes)) return [];
    const intent = this.#intents.get(id) ?? null;
    this.#intents.delete(id);
    if ((intent?.writer as Fields | null | undefined)?.pid === process.pid) return [];
    return [lineOf(at, fields, intent)];
  }

  #begin(id: string, intent: Fields): void {
    this.#intents.set(id, intent);
    for (const oldest of this.#intents.keys())
      if (this.#intents.size > MOST_OPEN) this.#intents.delete(oldest);
      else break;
  }
}

const lineOf = (at: number, fields: Fields, intent: Fields | null): LogLine => {
  const outcomes = listOf(fields.outcomes);
  const rows = [
    ...outcomes.map(processRow),
    ...[...listOf(fields.sessions), ...listOf(fields.files)].map(choreRow),
  ];
  const by = textOf(fields.by) || '?';
  const entry: LogEntry = { by, why: textOf(intent?.why), rows, note: textOf(fields.note) || null };
  const failed = rows.some(({ what }) => what === 'survived' || what === 'denied' || what === 'failed');
  const summary = summarise(outcomes as unknown as Outcome[]);
  return { at, text: visible(actText(by, summary, rows)), tone: failed ? 'bad' : 'plain', entry };
};
