import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NO_CONTENT, type Reading } from '../../model/heartbeat.ts';
import type { ClaudeSession } from '../../model/observation.ts';
import { safePath } from '../../model/redact.ts';

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

const mtimeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** A session that only waits for its subagents writes to their transcripts, not to its own. */
const newestBelow = (directory: string): number => {
  if (mtimeOf(directory) === 0) return 0;
  return readdirSync(directory).reduce((newest, name) => Math.max(newest, mtimeOf(join(directory, name))), 0);
};

const transcriptOf = (session: ClaudeSession): Reading[] => {
  // The session's own record is at <config>/sessions/<pid>.json.
  const configDir = dirname(dirname(session.path));
  if (session.cwd === null || !/^[\w-]{1,80}$/.test(session.sessionId)) return [];
  const directory = projectDirectory(configDir, session.cwd);
  if (directory === null) return [];
  const path = join(directory, `${session.sessionId}.jsonl`);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  const subagentAt = newestBelow(join(directory, session.sessionId, 'subagents'));
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
    },
  ];
};

/** When each session last wrote to its transcript: the heartbeat that needs nobody's cooperation. Nothing of it is read. */
export const transcriptReadings = (sessions: readonly ClaudeSession[]): Reading[] =>
  sessions.flatMap(session => {
    try {
      return transcriptOf(session);
    } catch {
      return []; // unreadable: no sign of life, and no proof of its absence
    }
  });
