import { join } from 'node:path';
import { AUDIT_FILE } from '../act/record/audit-lines.ts';
import type { JsonObject } from '../model/json.ts';
import type { Outcome } from '../model/plan.ts';
import { summarise } from '../model/plan-text.ts';
import { nameAndPid } from '../model/snapshot.ts';
import { visible } from '../model/text.ts';
import { parseDate } from '../model/time.ts';
import { FollowedLines } from '../observe/state/lines-file.ts';
import type { LogEntry, LogLine, LogRow } from './live-state.ts';

const TAIL_BYTES = 256 * 1024;

/** Acts that have begun and not ended, and acts of our own: more than a few at once there never are. */
const MOST_OPEN = 64;

/** Named in the line itself; the entry has all of them. */
const NAMED = 2;

const listOf = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(one => typeof one === 'object' && one !== null) : [];
const textOf = (value: unknown): string => (typeof value === 'string' ? visible(value) : '');

const processRow = (fields: JsonObject): LogRow => ({
  what: textOf(fields.outcome) || textOf(fields.signal),
  pid: typeof fields.pid === 'number' ? fields.pid : null,
  name: textOf(fields.name),
  bytes: typeof fields.freed === 'number' ? fields.freed : 0,
  why: textOf(fields.why),
});

const choreRow = (fields: JsonObject): LogRow => ({
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

/** The audit log as lines: first the acts of earlier runs, then what other reaptops do meanwhile. */
export class ActLog {
  readonly #lines: FollowedLines;
  readonly #intents = new Map<string, JsonObject>();

  constructor(directory: string | null, bytes = TAIL_BYTES) {
    this.#lines = new FollowedLines(directory === null ? null : join(directory, AUDIT_FILE), bytes);
  }

  /** The acts that ended since the last call; our own are logged as they happen. */
  next(): readonly LogLine[] {
    return this.#lines.next().flatMap(line => this.#read(line));
  }

  /** The first line of a tail is usually half a line: whatever does not parse is passed over. */
  #read(line: string): readonly LogLine[] {
    let fields: JsonObject;
    try {
      fields = JSON.parse(line) as JsonObject;
    } catch {
      return [];
    }
    const id = String(fields?.id);
    if (fields?.event === 'intent') this.#begin(id, fields);
    const at = parseDate(String(fields?.time));
    if (at === null || !Array.isArray(fields.outcomes)) return [];
    const intent = this.#intents.get(id) ?? null;
    this.#intents.delete(id);
    if ((intent?.writer as JsonObject | null | undefined)?.pid === process.pid) return [];
    return [lineOf(at, fields, intent)];
  }

  #begin(id: string, intent: JsonObject): void {
    this.#intents.set(id, intent);
    for (const oldest of this.#intents.keys())
      if (this.#intents.size > MOST_OPEN) this.#intents.delete(oldest);
      else break;
  }
}

const lineOf = (at: number, fields: JsonObject, intent: JsonObject | null): LogLine => {
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
