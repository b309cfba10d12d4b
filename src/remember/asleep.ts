import { closeSync, constants, existsSync, fsyncSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isResumable } from '../agents/resume.ts';
import { runningSessions, type SessionEvent, sessionEvents } from '../judge/remembered.ts';
import { REMEMBERED, type RememberedSession, sessionKey, type WayBack } from '../model/asleep.ts';
import { asObject, isCount, isText, isTime, type JsonObject, jsonLines } from '../model/json.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { visible } from '../model/text.ts';
import { parseClaudeSession } from '../observe/files/claude-sessions.ts';
import { readHead } from '../observe/files/read-bounded.ts';
import { isRunning } from '../observe/one-process.ts';
import { afterWholeLine, openForAppend } from '../observe/state/lines-file.ts';
import { errorSentence, readOwnTail, replaceOwn, writeWhole } from '../observe/state/own-file.ts';
import { makeStateDirectory } from '../observe/state/state-directory.ts';
import { readLatest } from './latest.ts';

const ASLEEP_FILE = 'asleep.jsonl';

const MOST_BYTES = 4 * 1024 ** 2;
/** Rewritten when it is longer: a line is about 500 bytes. */
const COMPACT_BYTES = 512 * 1024;
/** Nobody goes back to a conversation of a season ago without knowing its id. */
const KEPT_MS = 90 * 86_400_000;
const MOST_SESSIONS = 1000;

const textOrNull = (value: unknown): string | null => (isText(value) ? visible(value) : null);

const tmuxOf = (value: JsonObject | null): WayBack['tmux'] =>
  value === null ||
  !isText(value.socket) ||
  !isText(value.session) ||
  !isText(value.pane) ||
  !/^%\d+$/.test(value.pane)
    ? null
    : {
        socket: value.socket,
        session: value.session,
        pane: value.pane,
        server: isCount(value.server) ? value.server : null,
      };

/** A line is typed into a shell one day: what is not as we write it is not believed. */
const eventOf = (line: JsonObject): SessionEvent | null => {
  const { agent, id, state, at, resume, cwd } = line;
  if (!isText(agent) || !isText(id) || !isResumable(id)) return null;
  if (state === 'gone') return { agent, id, state };
  const known = REMEMBERED.find(one => one === state);
  if (known === undefined || !isTime(at) || !isText(resume) || !isText(cwd) || !cwd.startsWith('/'))
    return null;
  if (!resume.includes(id) || visible(resume) !== resume || visible(cwd) !== cwd) return null;
  return {
    agent,
    id,
    state: known,
    at,
    resume,
    cwd,
    pid: isCount(line.pid) ? line.pid : 0,
    start: isText(line.start) ? line.start : '',
    project: textOrNull(line.project),
    name: textOrNull(line.name),
    tmux: tmuxOf(asObject(line.tmux)),
    bytes: isCount(line.bytes) ? line.bytes : 0,
    boot: isText(line.boot) ? line.boot : null,
    registry: isText(line.registry) ? line.registry : null,
    ...(isText(line.why) ? { why: visible(line.why) } : {}),
  };
};

/** Sessions that sleep, are lost or were last seen running, by their names; the last line of each counts. */
export const readRemembered = (directory: string | null, now = Date.now()): readonly RememberedSession[] => {
  if (directory === null) return [];
  let text: string;
  try {
    text = readOwnTail(join(directory, ASLEEP_FILE), MOST_BYTES) ?? '';
  } catch {
    return []; // not ours: nothing in it is believed
  }
  const sessions = new Map<string, RememberedSession>();
  for (const line of jsonLines(text, text.length >= MOST_BYTES)) {
    const event = eventOf(line);
    if (event === null) continue;
    sessions.delete(sessionKey(event));
    if (event.state !== 'gone' && now - event.at < KEPT_MS) sessions.set(sessionKey(event), event);
  }
  return [...sessions.values()].slice(-MOST_SESSIONS);
};

const syncDirectory = (directory: string): void => {
  const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};

/** On disk when this returns; throws what the file system says. */
const rememberSessions = (directory: string, events: readonly SessionEvent[]): void => {
  if (events.length === 0) return;
  makeStateDirectory(directory);
  const path = join(directory, ASLEEP_FILE);
  const isNew = !existsSync(path);
  const fd = openForAppend(path);
  try {
    writeWhole(fd, afterWholeLine(fd, events.map(event => `${JSON.stringify(event)}\n`).join('')));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  if (isNew) syncDirectory(directory);
};

/** The same; what went wrong comes back as a sentence. */
export const tryRemember = (directory: string | null, events: readonly SessionEvent[]): string | null => {
  if (directory === null || events.length === 0) return null;
  try {
    rememberSessions(directory, events);
    compact(directory);
    return null;
  } catch (error) {
    return `${ASLEEP_FILE} could not be written: ${errorSentence(error)}`;
  }
};

/** A file that has grown long is written anew, unless somebody adds to it meanwhile. */
const compact = (directory: string): void => {
  const path = join(directory, ASLEEP_FILE);
  const { size } = statSync(path);
  if (size < COMPACT_BYTES) return;
  const lines = readRemembered(directory).map(session => `${JSON.stringify(session)}\n`);
  const text = lines.join('');
  if (text.length > size / 2 || statSync(path).size !== size) return;
  replaceOwn(path, text, { durable: true });
};

/** Claude takes the file of a session away when that ends by itself; one that was killed leaves it. */
export const leftRecord = ({ registry, agent, pid, id }: WayBack): boolean => {
  if (agent !== 'claude' || registry === null || pid <= 0) return false;
  const path = join(registry, 'sessions', `${pid}.json`);
  const read = readHead(path, undefined, { noLink: true, ours: true });
  const session = read.ok ? parseClaudeSession(read.text, path) : null;
  return session?.sessionId === id && session.pid === pid;
};

export interface SessionNote {
  readonly sessions: readonly RememberedSession[];
  /** Those that were not known to be lost before. */
  readonly lost: readonly RememberedSession[];
  readonly warning: string | null;
}

/**
 * Holds what is remembered against a sample, writes down what changed, and answers with the sessions as they are now.
 * Whoever looks does it: guard, the screen, `sessions`. The same line twice says nothing new.
 */
export const noteSessions = (directory: string, snapshot: Snapshot, oomKilled = false): SessionNote => {
  const before = readRemembered(directory);
  const latest = readLatest(directory);
  const events = sessionEvents(before, {
    running: runningSessions(snapshot),
    boot: snapshot.host.bootId,
    now: Date.now(),
    isPresent: isRunning,
    leftRecord,
    ranLast: ({ pid, start, boot }) =>
      latest?.host?.bootId === boot && latest.agents.some(one => one.pid === pid && one.start === start),
    oomKilled,
  });
  const changed = new Map(events.map(event => [sessionKey(event), event]));
  const sessions = [
    ...before.map(session => changed.get(sessionKey(session)) ?? session),
    ...events.filter(event => !before.some(session => sessionKey(session) === sessionKey(event))),
  ].filter(session => session.state !== 'gone');
  const lost = events.flatMap(event => (event.state === 'lost' ? [event] : []));
  return { sessions, lost, warning: tryRemember(directory, events) };
};
