/** What a process is. */
export const KINDS = [
  'agent',
  'mcp',
  'lean-lsp',
  'lake',
  'lean',
  'tmux',
  'wrapper',
  'shell',
  'browser',
  'other',
] as const;
export type Kind = (typeof KINDS)[number];

/** What a process does within its kind, where that changes how it is judged. */
export type Role =
  /** Claude's supervisor and its helpers: hard-protected, they restart what is killed. */
  | 'claude-daemon'
  /** The app-server that all codex sessions share: hard-protected like it. */
  | 'codex-daemon'
  /** `claude agents`: shows sessions, has none. */
  | 'dashboard'
  | 'background-session'
  /** A daemon by its own declaration (`--daemon`, claude-mem's worker). */
  | 'declared-daemon'
  /** A shell in which Claude's Bash tool runs one command. */
  | 'bash-tool'
  | 'lake-build'
  | 'lake-serve'
  | 'lean-server'
  | 'lean-worker'
  /** Anybody may drive it over TCP. */
  | 'debuggable-browser'
  /** Only what started it can drive it, over a pipe. */
  | 'piped-browser'
  /** Serves several sessions at once: one set of servers for each. */
  | 'session-host'
  /** Serves the sessions of other processes of its family, each of which counts as one. */
  | 'session-hub'
  /** Made itself a daemon while its browser runs, and ends with it. */
  | 'crash-handler'
  | 'tmux-server'
  | 'tmux-client'
  /** WSL's own processes: killing one destroys the distribution. */
  | 'wsl-plumbing';

/** Where a climb towards the root ends well: a user or a service is responsible. */
export type AnchorKind =
  | 'terminal'
  | 'remote-login'
  | 'login'
  | 'cron'
  | 'editor'
  | 'desktop-app'
  | 'service-manager';

/**
 * Where our knowledge of a program comes from. The kernel's words, our own list and what the user told their
 * agent may prove something; a sub-command's name, what a directory's file says and a whole line that begins as a
 * shortened one (`alike`) only describe.
 */
export type Known = 'list' | 'shape' | 'user' | 'command' | 'project' | 'alike';

const DESCRIBES_ONLY: ReadonlySet<Known> = new Set(['command', 'project', 'alike']);

/** May count against a process that nothing else connects to an agent. */
export const mayProve = (known: Known | null): boolean => known !== null && !DESCRIBES_ONLY.has(known);

/** What one process's own words (executable, argv, script) say about it, without its surroundings. */
export interface Recognition {
  readonly kind: Kind;
  /** Family of an agent: claude, codex, gemini… null for everything else. */
  readonly agent: string | null;
  /** The record that matched (`claude`, `playwright-mcp`, `npm-exec`…); null when none did. */
  readonly family: string | null;
  /** How we know; of a wrapper, how we know what it carries. null when nothing was recognised. */
  readonly known: Known | null;
  /** Short display name: `claude`, `lean-lsp-mcp`, `npm exec @playwright/mcp`. */
  readonly name: string;
  readonly role: Role | null;
  /** For a wrapper: the kind its argv says it carries (`npx -y chroma-mcp` carries mcp). */
  readonly wraps: Kind | null;
  /** `http`: serves over HTTP, SSE or streamable HTTP by its flags. */
  readonly transport: 'stdio' | 'http' | null;
  /** Its own flags or our list say stdio; else that is only what servers default to. */
  readonly saysStdio: boolean;
  /** Values of `--resume`, `-r` and `--session-id` that are session ids. */
  readonly sessionIds: readonly string[];
  /** Sessions that it took over by `--fork-session`: it has an id of its own, and their unfinished work. */
  readonly forkedFrom: readonly string[];
  readonly anchor: AnchorKind | null;
  /** Adopts orphans, as PID 1 does: `systemd --user`, launchd, WSL init and Relay(…). */
  readonly adoptsOrphans: boolean;
  /** Some token carries the word `mcp`: enough only for a stdio child of an agent. */
  readonly mentionsMcp: boolean;
}
