import { ANCHORS } from './anchors.ts';
import { BROWSERS } from './browsers.ts';
import { CLAUDE } from './claude.ts';
import { CODEX } from './codex.ts';
import type { Family } from './families.ts';
import { LEAN } from './lean.ts';
import { MCP_GATEWAYS } from './mcp-gateways.ts';
import { MCP_SERVERS } from './mcp-servers.ts';
import { OTHER_AGENTS } from './other-agents.ts';
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

export { SERVER_BROWSER } from './browsers.ts';
export type { ArgumentTest, Carry, Family, Form, Interpreter, PathShape } from './families.ts';
export { INTERPRETERS } from './interpreters.ts';
export {
  HTTP_TRANSPORT,
  NOT_COMMANDED,
  NOT_MCP_SERVERS,
  READERS,
  SERVER_COMMANDS,
  STDIO_TRANSPORT,
} from './mcp-words.ts';
export { SHELLS } from './shells.ts';
