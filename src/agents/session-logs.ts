/**
 * Where the sessions of an agent that keeps no registry are written down while they work. Only how old that file is
 * counts: it distinguishes busy from idle, and never shows that the agent waits for its user.
 */
export interface SessionLog {
  /** The family, as `Family.agent` calls it. */
  readonly agent: string;
  /** What a session holds open as long as it runs; null: it opens its log again for every line. */
  readonly held: {
    readonly file: RegExp;
    /** The log's own name beside that file; null: it is the log. */
    readonly log: string | null;
  } | null;
  /** The id of the session in the path of its log; null: it is not there. */
  readonly id: RegExp | null;
  /** Where the log of a session is found whose process is not seen to hold one; null: nowhere that tells whose it is. */
  readonly location: {
    /** Below the home directory. `{day}`: 2026/11/17, of its start and of today. `{project}`: see `projects`. */
    readonly directory: string;
    readonly file: RegExp;
    /** The name of the field, in the log's first bytes, that holds where its session works; null: the directory tells. */
    readonly cwd: string | null;
    /** The file that knows the names of the projects' directories: `{"projects": {"/home/me/work": "work"}}`. */
    readonly projects: string | null;
  } | null;
}

/** As seen with codex 0.166.0, gemini 0.61.0, opencode 1.18.33 and copilot 1.0.102. */
export const SESSION_LOGS: readonly SessionLog[] = [
  {
    // `codex exec` holds it; the log of a TUI is held by the daemon that all of them share.
    agent: 'codex',
    held: { file: /\/sessions\/\d{4}\/\d\d\/\d\d\/rollout-[^/]+\.jsonl$/, log: null },
    id: /\/rollout-[^/]+?-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/,
    location: { directory: '.codex/sessions/{day}', file: /^rollout-.+\.jsonl$/, cwd: 'cwd', projects: null },
  },
  {
    agent: 'gemini',
    held: null,
    id: null,
    location: {
      directory: '.gemini/tmp/{project}/chats',
      file: /^session-.+\.jsonl?$/,
      cwd: null,
      projects: '.gemini/projects.json',
    },
  },
  {
    // One log and one database for all sessions of the user.
    agent: 'opencode',
    held: { file: /\/opencode\/(?:log\/[^/]+\.log|opencode\.db-wal)$/, log: null },
    id: null,
    location: null,
  },
  {
    // The log of its process is written to while nothing happens: that of its session is not.
    agent: 'copilot',
    held: { file: /\/session-state\/[\w-]+\/inuse\.\d+\.hold$/, log: 'events.jsonl' },
    id: /\/session-state\/([\w-]+)\/events\.jsonl$/,
    location: null,
  },
];

const BY_AGENT: ReadonlyMap<string, SessionLog> = new Map(SESSION_LOGS.map(log => [log.agent, log]));

export const sessionLogOf = (agent: string | null): SessionLog | null =>
  agent === null ? null : (BY_AGENT.get(agent) ?? null);
