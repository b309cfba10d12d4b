import { NOT_COMMANDED, NOT_MCP_SERVERS, READERS, SERVER_COMMANDS } from '../../agents/index.ts';
import { withoutExtension } from './words.ts';

const NOT_SERVERS: ReadonlySet<string> = new Set(NOT_MCP_SERVERS);

/** `mcp-server`, `mcp-server-git`, `x-mcp-server`, `x-mcp`: names that people give to servers and to little else. */
const isServerName = (name: string): boolean =>
  name === 'mcp-server' ||
  name.startsWith('mcp-server-') ||
  name.endsWith('-mcp-server') ||
  name.endsWith('-mcp');

/** A package or an installed program may also be `mcp-x`; a loose file of that name may be anything. */
const isInstalledServerName = (name: string): boolean =>
  isServerName(name) || (name.startsWith('mcp-') && name.length > 4 && !NOT_SERVERS.has(name));

/** The usual shape of a program's or script's basename. Snake case (`mcp_analysis.py`) is never enough. */
export const isServerProgram = (base: string): boolean => {
  if (!base.includes('mcp')) return false;
  const stem = withoutExtension(base);
  return stem === base ? isInstalledServerName(base) : isServerName(stem);
};

/** The usual shape of a package name: `@scope/mcp`, `@modelcontextprotocol/server-x`, `mcp/fetch` (an image). */
export const isServerPackage = (name: string): boolean => {
  const slash = name.lastIndexOf('/');
  if (slash < 0) return isServerProgram(name);
  const own = name.slice(slash + 1);
  if (name.startsWith('@modelcontextprotocol/')) return own.startsWith('server-') || isServerProgram(own);
  if (name.startsWith('mcp/')) return true;
  return (name.startsWith('@') && own === 'mcp') || isServerProgram(own);
};

/** `python -m mcp_server_git`: an installed module, named as servers are. */
export const isServerModule = (module: string): boolean => {
  const top = module.split('.', 1)[0] ?? module;
  return top === 'mcp_server' || top.startsWith('mcp_server_') || top.endsWith('_mcp_server');
};

const NO_PROGRAMS_OF_SERVERS: ReadonlySet<string> = new Set([...READERS, ...NOT_COMMANDED]);

/** `PROGRAM mcp`, alone, with flags, or with a word that starts a server. `PROGRAM mcp list` ends by itself. */
export const isServerCommand = (program: string, words: readonly string[], from: number): boolean => {
  const next = words[from + 1];
  return (
    words[from] === 'mcp' &&
    !NO_PROGRAMS_OF_SERVERS.has(program) &&
    (next === undefined || next.startsWith('-') || SERVER_COMMANDS.includes(next))
  );
};

const MENTION = /(?:^|[^a-z0-9])mcp(?:$|[^a-z0-9])/i;
const MAX_WORDS = 64;

/** Whether some word carries `mcp` as a segment. Texts (prompts, `-c` scripts) are not words. */
export const mentionsMcp = (words: readonly string[]): boolean => {
  const end = Math.min(words.length, MAX_WORDS);
  for (let at = 0; at < end; at += 1) {
    const word = words[at] as string;
    if (word.length < 3 || word.length > 512) continue;
    if (!word.includes('mcp') && !word.includes('MCP')) continue;
    if (!word.includes(' ') && MENTION.test(word)) return true;
  }
  return false;
};
