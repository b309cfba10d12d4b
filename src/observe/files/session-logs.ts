import { readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { type SessionLog, sessionLogOf } from '../../agents/session-logs.ts';
import type { LoggedCalls } from '../../model/call.ts';
import { NO_CONTENT, type Reading, readingOf } from '../../model/heartbeat.ts';
import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import { directoryOf } from '../../model/path.ts';
import { safePath } from '../../model/redact.ts';
import type { CallReader } from './call-reader.ts';
import { readHead } from './read-bounded.ts';

/** An agent of our user whose family writes its sessions down. */
export interface LoggingAgent extends Identity {
  readonly agent: string;
  readonly cwd: string | null;
  readonly home: string | null;
  /** When it started, epoch milliseconds. */
  readonly born: number | null;
  /** The files of its family's sessions that it holds open. */
  readonly holds: readonly string[];
  /** It holds the logs of all sessions, and has none itself. */
  readonly daemon: boolean;
}

/** Whose log it is changes with a new session; between two searches only the age of the one found is asked. */
const SEARCH_MS = 10_000;
/** The newest by name, and names begin with a time: an older one belongs to no running session. */
const MOST_FILES = 32;
/** Codex says where it works in the first 400 bytes, and goes on with pages of instructions. */
const HEAD_BYTES = 4096;
const MOST_HEADS = 256;
/** Clocks of files and processes differ by so much. */
const TOLERANCE_MS = 2000;

const statOf = (path: string): Stats | null => {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat?.isFile() ? stat : null;
  } catch {
    return null; // unreadable: no sign of life, and no proof of its absence
  }
};

const namesIn = (directory: string, file: RegExp): readonly string[] => {
  try {
    return readdirSync(directory)
      .filter(name => file.test(name))
      .sort()
      .slice(-MOST_FILES)
      .map(name => join(directory, name));
  } catch {
    return [];
  }
};

const dayOf = (at: number): string => {
  const day = new Date(at);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${day.getFullYear()}/${two(day.getMonth() + 1)}/${two(day.getDate())}`;
};

/** The name of a project's directory: one plain part of a path, whatever the file says. */
const projectName = (home: string, projects: string | null, cwd: string): string | null => {
  const read = projects === null ? null : readHead(join(home, projects), undefined, { ours: true });
  if (read?.ok !== true || read.cut) return null;
  try {
    const name = (JSON.parse(read.text) as { projects?: Record<string, unknown> } | null)?.projects?.[cwd];
    return typeof name === 'string' && /^[\w-][\w.-]{0,200}$/.test(name) ? name : null;
  } catch {
    return null; // half written: the next look may find it whole
  }
};

/** When the sessions of agents without a registry last wrote to their logs and what they wait for, where it is certain whose log it is. */
export class SessionLogs {
  readonly #found = new Map<IdentityKey, { readonly path: string | null; readonly at: number }>();
  readonly #heads = new Map<string, string | null>();
  readonly #calls: CallReader | null;

  constructor(calls: CallReader | null = null) {
    this.#calls = calls;
  }

  /** `anew`: the remembered location of a log does not count. */
  readings(agents: readonly LoggingAgent[], now: number, anew = false): Reading[] {
    if (anew) this.#found.clear();
    const sessions = agents.filter(({ daemon }) => !daemon);
    this.#forget(sessions);
    return sessions.flatMap(agent => {
      const paths = this.#logsOf(agent, agents, now);
      const stats = paths.flatMap(path => {
        const stat = statOf(path);
        return stat === null ? [] : [{ path, stat }];
      });
      const newest = stats.sort((a, b) => b.stat.mtimeMs - a.stat.mtimeMs)[0];
      if (newest === undefined) return [];
      const calls = this.#calls?.read(newest.path, agent.agent, newest.stat) ?? undefined;
      // The newest of several may be that of a subagent.
      const logId = stats.length === 1 ? sessionLogOf(agent.agent)?.id?.exec(newest.path)?.[1] : undefined;
      return [readingFor(agent, newest.path, newest.stat, { calls, logId })];
    });
  }

  #logsOf(agent: LoggingAgent, agents: readonly LoggingAgent[], now: number): readonly string[] {
    const log = sessionLogOf(agent.agent);
    if (log === null) return [];
    if (agent.holds.length > 0) {
      const others = agents.filter(other => other !== agent && !other.daemon);
      // What two of them hold open tells nothing about either.
      const own = agent.holds.filter(path => others.every(other => !other.holds.includes(path)));
      return log.held?.log == null ? own : own.map(path => join(directoryOf(path), log.held!.log!));
    }
    const key = keyOf(agent);
    const known = this.#found.get(key);
    const fresh = known !== undefined && now - known.at < SEARCH_MS;
    const found = fresh ? known : { path: this.#search(agent, agents, log, now), at: now };
    if (!fresh) this.#found.set(key, found);
    return found.path === null ? [] : [found.path];
  }

  /** The one log that its session can be writing to; null: there is none, or there are two. */
  #search(agent: LoggingAgent, agents: readonly LoggingAgent[], log: SessionLog, now: number): string | null {
    const { cwd, home, born } = agent;
    if (log.location === null || cwd === null || home === null || born === null) return null;
    const family = agents.filter(other => other.agent === agent.agent);
    const twins = family.filter(other => !other.daemon && other.holds.length === 0 && other.cwd === cwd);
    if (twins.length > 1) return null;
    const taken = new Set(family.flatMap(other => (other.daemon ? [] : other.holds)));
    const shared = family.flatMap(other => (other.daemon ? other.holds : []));
    const candidates = new Set([...shared, ...listed(log.location, agent, home, cwd, now)]);
    const its = [...candidates].filter(path => {
      if (taken.has(path)) return false;
      const stat = statOf(path);
      // What was not written to since it started is another's.
      if (stat === null || stat.mtimeMs < born - TOLERANCE_MS) return false;
      return log.location!.cwd === null || this.#worksIn(path, log.location!.cwd) === cwd;
    });
    return its.length === 1 ? its[0]! : null;
  }

  /** Where the head of a log says that its session works. It never changes, and is read once. */
  #worksIn(path: string, field: string): string | null {
    const known = this.#heads.get(path);
    if (known !== undefined) return known;
    const read = readHead(path, HEAD_BYTES, { noLink: true, ours: true });
    const told = read.ok
      ? new RegExp(`"${field}"\\s*:\\s*("(?:[^"\\\\]|\\\\.)*")`).exec(read.text)?.[1]
      : undefined;
    if (told === undefined) return null; // perhaps not written yet
    if (this.#heads.size >= MOST_HEADS) this.#heads.clear();
    const cwd = stringOf(told);
    this.#heads.set(path, cwd);
    return cwd;
  }

  #forget(sessions: readonly LoggingAgent[]): void {
    if (this.#found.size <= 2 * sessions.length) return;
    const present = new Set(sessions.map(keyOf));
    for (const key of this.#found.keys()) if (!present.has(key)) this.#found.delete(key);
  }
}

const stringOf = (json: string): string | null => {
  try {
    return safePath(JSON.parse(json) as string);
  } catch {
    return null;
  }
};

const listed = (
  { directory, file, projects }: NonNullable<SessionLog['location']>,
  { born }: LoggingAgent,
  home: string,
  cwd: string,
  now: number,
): readonly string[] => {
  const days = directory.includes('{day}') ? [...new Set([dayOf(born ?? now), dayOf(now)])] : [''];
  const project = directory.includes('{project}') ? projectName(home, projects, cwd) : '';
  if (project === null) return [];
  return days.flatMap(day =>
    namesIn(join(home, directory.replace('{day}', day).replace('{project}', project)), file),
  );
};

const readingFor = (
  { pid, cwd }: LoggingAgent,
  path: string,
  { mtimeMs, size }: Stats,
  told: { readonly calls: LoggedCalls | undefined; readonly logId: string | undefined },
): Reading =>
  readingOf(
    { ...NO_CONTENT, pid, cwd, ...told },
    {
      path: safePath(path),
      root: safePath(directoryOf(path)),
      format: 'transcript',
      source: null,
      mtime: mtimeMs,
      size,
      unreadable: null,
    },
  );
