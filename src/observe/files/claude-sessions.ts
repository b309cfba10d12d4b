import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  asObject,
  type JsonObject,
  numberField,
  parseJson,
  pidField,
  textField,
} from '../../model/json-fields.ts';
import type { ClaudeRecords, ClaudeSession, StrangeFile } from '../../model/observation.ts';
import { safePath } from '../../model/redact.ts';
import { adoptedOutputs } from './claude-tasks.ts';
import { type BoundedRead, readHead } from './read-bounded.ts';

/** cwd is compared with /proc's, so it keeps every character that `safePath` would not change. */
const pathField = (object: JsonObject, name: string): string | null => {
  const value = object[name];
  return typeof value === 'string' && value.startsWith('/') ? safePath(value.slice(0, 4096)) : null;
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
    procStart: textField(record, 'procStart'),
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
