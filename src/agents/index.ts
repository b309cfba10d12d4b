import type { Role } from '../model/kind.ts';
import { ANCHORS } from './anchors.ts';
import { BROWSERS } from './browsers.ts';
import { CLAUDE, CLAUDE_EVIDENCE } from './claude.ts';
import { CODEX, CODEX_EVIDENCE } from './codex.ts';
import type { Evidence } from './evidence.ts';
import type { Family } from './families.ts';
import { LEAN } from './lean.ts';
import { MCP_GATEWAYS } from './mcp-gateways.ts';
import { MCP_SERVERS } from './mcp-servers.ts';
import { COPILOT_EVIDENCE, GEMINI_EVIDENCE, OPENCODE_EVIDENCE, OTHER_AGENTS } from './other-agents.ts';
import { PACKAGE_RUNNERS } from './package-runners.ts';
import { TMUX } from './tmux.ts';
import { WRAPPERS } from './wrappers.ts';

/** Who is who, in order: the first family that accepts a token wins. */
export const FAMILIES: readonly Family[] = [
  ...TMUX,
  ...CLAUDE,
  ...CODEX,
  ...OTHER_AGENTS,
  ...LEAN,
  ...MCP_SERVERS,
  ...MCP_GATEWAYS,
  ...PACKAGE_RUNNERS,
  ...WRAPPERS,
  ...BROWSERS,
  ...ANCHORS,
];

/** How the families whose processes carry marks tell whose a process is. */
export const EVIDENCE: readonly Evidence[] = [
  CLAUDE_EVIDENCE,
  CODEX_EVIDENCE,
  COPILOT_EVIDENCE,
  GEMINI_EVIDENCE,
  OPENCODE_EVIDENCE,
];

const SESSIONLESS: ReadonlySet<Role> = new Set<Role>([
  ...EVIDENCE.flatMap(({ daemon }) => daemon?.role ?? []),
  'dashboard',
]);

/** Supervisors, shared daemons and dashboards are agents' programs without a session of their own. */
export const isSessionless = (role: Role | null): boolean => role !== null && SESSIONLESS.has(role);

const THREADED: ReadonlySet<string> = new Set(
  EVIDENCE.filter(({ threads }) => threads).map(({ agent }) => agent),
);

/** Serves several sessions, threads or subagents, each with servers of its own: equal ones below it are no duplicates. */
export const servesSeveral = ({ agent, role }: { agent: string | null; role: Role | null }): boolean =>
  isSessionless(role) || role === 'session-host' || (agent !== null && THREADED.has(agent));

export { DRIVING_DESCRIPTOR, SERVER_BROWSER } from './browsers.ts';
export type { Evidence } from './evidence.ts';
export type { ArgumentTest, Carry, Family, Form, Interpreter } from './families.ts';
export { INTERPRETERS } from './interpreters.ts';
export {
  DAEMON_WORDS,
  HTTP_TRANSPORT,
  NOT_COMMANDED,
  NOT_MCP_SERVERS,
  READERS,
  SERVER_COMMANDS,
  STDIO_TRANSPORT,
} from './mcp-words.ts';
export { SHELLS } from './shells.ts';
