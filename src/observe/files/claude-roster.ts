import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { asObject, type JsonObject, parseJson, pidField, textField } from '../../model/json-fields.ts';
import type { ClaudeRecords, ClaudeWorker, StrangeFile } from '../../model/observation.ts';
import { readHead } from './read-bounded.ts';

/** Each worker's dispatch holds its arguments and parts of its environment: a dozen may be some hundred kilobytes. */
const SIZE_LIMIT = 4 * 1024 ** 2;

const processOf = (worker: JsonObject, pidName: string, startName: string) => {
  const pid = pidField(worker, pidName);
  return pid === null ? [] : [{ pid, start: textField(worker, startName) }];
};

/** `launch` says how the session was started: one moved to the background resumes what it is forked from. */
const forkedFrom = (worker: JsonObject): string | null => {
  const launch = asObject(asObject(worker.dispatch)?.launch);
  const told = launch?.fork === true ? textField(launch, 'sessionId') : null;
  // An id, or the path of the transcript that has the id for a name.
  return told === null ? null : basename(told, '.jsonl');
};

/** The supervisor's list of background sessions; null when it is none that we know. `rvAuth` and `ptyAuth` are secrets. */
export const parseRoster = (text: string): ClaudeWorker[] | null => {
  const parsed = parseJson(text);
  const workers = parsed.ok ? asObject(asObject(parsed.value)?.workers) : null;
  if (workers === null) return null;
  return Object.entries(workers).flatMap(([jobId, entry]) => {
    const worker = asObject(entry);
    if (worker === null) return [];
    const processes = [
      ...processOf(worker, 'replPid', 'replProcStart'),
      ...processOf(worker, 'pid', 'procStart'),
    ];
    return [{ jobId: jobId.slice(0, 64), processes, forkedFrom: forkedFrom(worker) }];
  });
};

/** What Claude's supervisors below these configuration directories run in the background. */
export const readClaudeRosters = (
  configDirs: readonly string[],
): Pick<ClaudeRecords, 'workers' | 'strange'> => {
  const workers: ClaudeWorker[] = [];
  const strange: StrangeFile[] = [];
  for (const dir of new Set(configDirs)) {
    const path = join(dir, 'daemon', 'roster.json');
    // Asked without an exception: most machines have none.
    if (statSync(path, { throwIfNoEntry: false }) === undefined) continue;
    const read = readHead(path, SIZE_LIMIT);
    const found = read.ok ? parseRoster(read.text) : null;
    if (found !== null) workers.push(...found);
    else if (read.ok || !read.gone) strange.push({ path, pid: null });
  }
  return { workers, strange };
};
