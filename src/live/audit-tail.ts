import { join } from 'node:path';
import { AUDIT_FILE } from '../act/record/lines.ts';
import type { Outcome } from '../model/plan.ts';
import { visible } from '../model/text.ts';
import { parseDate } from '../model/time.ts';
import { readOwnTail } from '../observe/state/own-file.ts';
import { stateDirectory } from '../observe/state/state-directory.ts';
import { summarise } from '../words/outcomes.ts';
import type { LogLine } from './live.ts';

const TAIL_BYTES = 64 * 1024;
const TAIL_LINES = 20;

/** The last acts of earlier runs, for the Log panel. An unreadable log is an empty one: it is only history. */
export const auditTail = (
  env: NodeJS.ProcessEnv,
  { bytes = TAIL_BYTES, lines = TAIL_LINES }: { bytes?: number; lines?: number } = {},
): LogLine[] => {
  const directory = stateDirectory(env);
  if (directory === null) return [];
  try {
    const tail = readOwnTail(join(directory, AUDIT_FILE), bytes) ?? '';
    return tail.split('\n').flatMap(parseLine).slice(-lines);
  } catch {
    return []; // not ours to read
  }
};

/** The first line of a tail is usually half a line: whatever does not parse is passed over. */
const parseLine = (line: string): LogLine[] => {
  try {
    const act = JSON.parse(line) as { time?: unknown; by?: unknown; outcomes?: unknown };
    const at = parseDate(String(act.time));
    if (at === null || !Array.isArray(act.outcomes)) return [];
    return [
      { at, text: visible(`${String(act.by)}: ${summarise(act.outcomes as Outcome[])}`), tone: 'plain' },
    ];
  } catch {
    return [];
  }
};
