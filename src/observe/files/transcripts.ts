import { readdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { LoggedCalls } from '../../model/call.ts';
import { NO_CONTENT, type Reading } from '../../model/heartbeat.ts';
import type { ClaudeSession } from '../../model/observation.ts';
import { safePath } from '../../model/redact.ts';
import type { CallReader } from './call-reader.ts';

const SLUG_LIMIT = 200;

/** How Claude names the directory of a project's transcripts; one that is cut has a hash behind it. */
export const slugOf = (cwd: string): { readonly slug: string; readonly cut: boolean } => {
  const slug = cwd.replace(/[^A-Za-z0-9]/g, '-');
  return slug.length > SLUG_LIMIT ? { slug: slug.slice(0, SLUG_LIMIT), cut: true } : { slug, cut: false };
};

const projectDirectory = (configDir: string, cwd: string): string | null => {
  const { slug, cut } = slugOf(cwd);
  const projects = join(configDir, 'projects');
  if (!cut) return join(projects, slug);
  const name = readdirSync(projects).find(entry => entry.startsWith(`${slug}-`));
  return name === undefined ? null : join(projects, name);
};

interface Transcript {
  readonly path: string;
  readonly stat: Stats;
}

const seenAt = (path: string): Transcript[] => {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? [] : [{ path, stat }];
};

/** A session that only waits for its subagents writes to their transcripts, not to its own. */
const subagentsIn = (directory: string): Transcript[] =>
  seenAt(directory).length === 0 ? [] : readdirSync(directory).flatMap(name => seenAt(join(directory, name)));

/** As many subagents as work at once, by far. */
const MOST_SUBAGENTS = 16;
/** Nobody has waited for one that wrote nothing for so long. */
const SUBAGENT_MS = 6 * 3600 * 1000;

/** At its prompt a session waits for nothing itself. */
const AT_PROMPT: ReadonlySet<string | null> = new Set(['idle', 'shell']);

/**
 * What the session waits for. Subagents work on in the background after their call has returned: their transcripts end
 * with a result when they are stopped, and amid a call only when all of Claude was killed.
 */
const callsOf = (
  own: Transcript,
  subagents: readonly Transcript[],
  { status }: ClaudeSession,
  reader: CallReader,
): LoggedCalls | undefined => {
  const told = reader.read(own.path, 'claude', own.stat);
  if (told === null) return undefined;
  if (subagents.length === 0) return told;
  const newest = Math.max(own.stat.mtimeMs, ...subagents.map(({ stat }) => stat.mtimeMs));
  const theirs = subagents
    .filter(({ path, stat }) => path.endsWith('.jsonl') && newest - stat.mtimeMs < SUBAGENT_MS)
    .sort((one, other) => other.stat.mtimeMs - one.stat.mtimeMs)
    .slice(0, MOST_SUBAGENTS)
    .map(({ path, stat }) => reader.read(path, 'claude', stat, true));
  const pending = theirs.flatMap(read => read?.pending ?? []);
  if (!AT_PROMPT.has(status)) return { ...told, pending: [...told.pending, ...pending] };
  return { ...told, behind: theirs.includes(null) ? 'unread' : pending };
};

const transcriptOf = (session: ClaudeSession, reader: CallReader | null): Reading[] => {
  // The session's own record is at <config>/sessions/<pid>.json.
  const configDir = dirname(dirname(session.path));
  if (session.cwd === null || !/^[\w-]{1,80}$/.test(session.sessionId)) return [];
  const directory = projectDirectory(configDir, session.cwd);
  if (directory === null) return [];
  const [own] = seenAt(join(directory, `${session.sessionId}.jsonl`));
  if (own === undefined) return [];
  const { path, stat } = own;
  const subagents = subagentsIn(join(directory, session.sessionId, 'subagents'));
  const subagentAt = subagents.reduce((newest, subagent) => Math.max(newest, subagent.stat.mtimeMs), 0);
  return [
    {
      ...NO_CONTENT,
      path: safePath(path),
      root: safePath(configDir),
      format: 'transcript',
      source: null,
      mtime: Math.max(stat.mtimeMs, subagentAt),
      subagentAt: subagentAt === 0 ? null : subagentAt,
      size: stat.size,
      unreadable: null,
      sessionId: session.sessionId,
      cwd: session.cwd,
      pid: session.pid,
      status: session.status,
      calls: reader === null ? undefined : callsOf(own, subagents, session, reader),
    },
  ];
};

/** When each session last wrote to its transcript, a heartbeat that needs no cooperation; `reader`: and what it waits for. */
export const transcriptReadings = (
  sessions: readonly ClaudeSession[],
  reader: CallReader | null = null,
): Reading[] =>
  sessions.flatMap(session => {
    try {
      return transcriptOf(session, reader);
    } catch {
      return []; // unreadable: no sign of life, and no proof of its absence
    }
  });
