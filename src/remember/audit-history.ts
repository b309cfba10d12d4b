import { join } from 'node:path';
import type { JsonObject } from '../model/json.ts';
import type { RecordedAct, RecordedOutcome } from '../model/report.ts';
import { visible } from '../model/text.ts';
import { parseDate } from '../model/time.ts';
import { readOwnTail } from '../observe/state/own-file.ts';

/** Newest last, as they are rotated. */
const FILES = ['audit.2.jsonl', 'audit.1.jsonl', 'audit.jsonl'] as const;
/** Twice what a file is rotated at. */
const MOST_BYTES = 8 * 1024 ** 2;

export interface AuditHistory {
  readonly acts: readonly RecordedAct[];
  readonly bytes: number;
  readonly files: number;
  /** Lines that were torn or wrong, and files that could not be read. */
  readonly skipped: number;
}

const asText = (value: unknown): string | null =>
  typeof value === 'string' ? visible(value).slice(0, 200) : null;
const asBytes = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;

const outcomeOf = (value: unknown): RecordedOutcome[] => {
  if (typeof value !== 'object' || value === null) return [];
  const { pid, start, kind, agent, verdict, cwd, outcome, freed } = value as JsonObject;
  if (typeof pid !== 'number' || typeof start !== 'string' || typeof outcome !== 'string') return [];
  const project =
    asText(cwd)
      ?.split('/')
      .findLast(part => part !== '') ?? null;
  return [
    {
      key: `${pid}:${start}`,
      kind: asText(kind),
      agent: asText(agent),
      verdict: asText(verdict),
      project,
      outcome,
      freed: asBytes(freed),
    },
  ];
};

/** Sessions that an act put to sleep, by its line in the audit log. */
export const sleptIn = (sessions: unknown): number =>
  (Array.isArray(sessions) ? sessions : []).filter(one => {
    const { act, outcome } = (one ?? {}) as { readonly act?: unknown; readonly outcome?: unknown };
    return act === 'sleep' && outcome === 'done';
  }).length;

/** null: no act, or none that can be read. Intents are no acts yet. */
const actOf = (line: string): RecordedAct | 'intent' | null => {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null) return null;
    const { time, event, by, outcomes, freed, sessions } = value as JsonObject;
    if (event === 'intent') return 'intent';
    const at = parseDate(String(time));
    if (at === null || !Array.isArray(outcomes)) return null;
    return {
      at,
      by: asText(by) ?? 'unknown',
      outcomes: outcomes.flatMap(outcomeOf),
      freed: asBytes(freed),
      slept: sleptIn(sessions),
    };
  } catch {
    return null; // torn by a full disk or a kill
  }
};

/** Every act since then, oldest first, from the log and what was rotated out of it. */
export const readAuditHistory = (directory: string, from: number): AuditHistory => {
  const acts: RecordedAct[] = [];
  let bytes = 0;
  let files = 0;
  let skipped = 0;
  for (const name of FILES) {
    let text: string | null = null;
    try {
      text = readOwnTail(join(directory, name), MOST_BYTES);
    } catch {
      skipped += 1; // not ours to read
    }
    if (text === null) continue;
    files += 1;
    bytes += Buffer.byteLength(text);
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const act = actOf(line);
      if (act === null) skipped += 1;
      else if (act !== 'intent' && act.at >= from) acts.push(act);
    }
  }
  return { acts: acts.sort((a, b) => a.at - b.at), bytes, files, skipped };
};
