import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { asObject, type JsonObject, numberField, parseJson, pidField } from '../../model/json.ts';
import type { ClaudeRecords, ClaudeSession, ClaudeWorker, StrangeFile } from '../../model/observation.ts';
import { safePath, textField } from '../../model/redact.ts';
import { visible } from '../../model/text.ts';
import { parseDate } from '../../model/time.ts';
import { type BoundedRead, readHead } from './read-bounded.ts';
import { slugOf } from './transcripts.ts';

/** cwd is compared with /proc's, so it keeps every character that `safePath` would not change. */
const pathField = (object: JsonObject, name: string): string | null => {
  const value = object[name];
  return typeof value === 'string' && value.startsWith('/') ? safePath(value.slice(0, 4096)) : null;
};

/** Field 22 of /proc/PID/stat on Linux. On macOS what `ps -o lstart=` prints in UTC, to the second: epoch seconds here. */
const startField = (record: JsonObject, name: string): string | null => {
  const text = textField(record, name);
  if (text === null || /^\d*$/.test(text)) return text;
  const at = parseDate(`${text} UTC`);
  return at === null ? text : String(at / 1000);
};

/** Claude's own record of one running session; null when it is not one. */
export const parseClaudeSession = (text: string, path: string): ClaudeSession | null => {
  const parsed = parseJson(text);
  const record = parsed.ok ? asObject(parsed.value) : null;
  const sessionId = textField(record, 'sessionId');
  const pid = pidField(record, 'pid');
  if (record === null || sessionId === null || pid === null) return null;
  return {
    pid,
    procStart: startField(record, 'procStart'),
    sessionId,
    cwd: pathField(record, 'cwd'),
    kind: textField(record, 'kind'),
    status: textField(record, 'status'),
    statusUpdatedAt: numberField(record, 'statusUpdatedAt'),
    waitingFor: textField(record, 'waitingFor'),
    name: textField(record, 'name'),
    jobId: textField(record, 'jobId'),
    socket: pathField(record, 'messagingSocketPath'),
    spare: record.spare === true,
    adoptedOutputs: [],
    path,
  };
};

/** Only a session that runs in the background has taken over anything. */
const withAdopted = (session: ClaudeSession): ClaudeSession =>
  session.kind === 'bg'
    ? { ...session, adoptedOutputs: adoptedOutputs(session.cwd, session.sessionId) }
    : session;

const sessionFiles = (directory: string): string[] => {
  // Asked without an exception: the directory is absent on every machine without Claude.
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  // `pid-<n>.json` is a dead generation that nothing maintains any more; `<n>.<hash>.key` is a secret.
  return readdirSync(directory).filter(name => /^\d{1,10}\.json$/.test(name));
};

/** A whole document that is no session as we know it: written by a version that we do not know. */
const isStrange = (read: BoundedRead): boolean =>
  read.ok ? read.cut || parseJson(read.text).ok : !read.gone;

/** All that Claude itself records below these configuration directories (`~/.claude`, `$CLAUDE_CONFIG_DIR`). */
export const readClaudeSessions = (
  configDirs: readonly string[],
): Pick<ClaudeRecords, 'sessions' | 'strange'> => {
  const sessions: ClaudeSession[] = [];
  const strange: StrangeFile[] = [];
  for (const dir of new Set(configDirs)) {
    const directory = join(dir, 'sessions');
    try {
      for (const name of sessionFiles(directory)) {
        const path = join(directory, name);
        const read = readHead(path);
        const session = read.ok ? parseClaudeSession(read.text, path) : null;
        if (session === null && isStrange(read)) strange.push({ path, pid: Number.parseInt(name, 10) });
        // The file's name is the pid; a copy of another session's file proves nothing about this one.
        if (session !== null && name === `${session.pid}.json`) sessions.push(withAdopted(session));
      }
    } catch {
      // Unreadable directory: no evidence, which judging treats as unknown.
    }
  }
  return { sessions, strange };
};

/** Each worker's dispatch holds its arguments and parts of its environment: a dozen may be some hundred kilobytes. */
const SIZE_LIMIT = 4 * 1024 ** 2;

const processOf = (worker: JsonObject, pidName: string, startName: string) => {
  const pid = pidField(worker, pidName);
  return pid === null ? [] : [{ pid, start: startField(worker, startName) }];
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

/** As many shells as one session ever has running, by far. */
const LIMIT = 200;

/** Where Claude keeps what background shells write, by default. */
const TEMPORARY = '/tmp';

const OUTPUT = /^\/.+\/tasks\/[\w-]+\.output$/;

/** A session that took over running shells has links, named like its own tasks, to where those write on. */
export const adoptedOutputs = (cwd: string | null, sessionId: string, temporary = TEMPORARY): string[] => {
  const uid = process.getuid?.();
  if (uid === undefined || cwd === null || !/^[\w-]{1,80}$/.test(sessionId)) return [];
  const directory = join(temporary, `claude-${uid}`, slugOf(cwd).slug, sessionId, 'tasks');
  try {
    if (statSync(directory, { throwIfNoEntry: false })?.uid !== uid) return [];
    return readdirSync(directory, { withFileTypes: true })
      .filter(entry => entry.isSymbolicLink())
      .slice(0, LIMIT)
      .map(entry => readlinkSync(join(directory, entry.name)))
      .filter(target => OUTPUT.test(target))
      .map(visible);
  } catch {
    return []; // unreadable, or gone meanwhile: no evidence
  }
};
