import { SERVER_BROWSER } from '../../agents/index.ts';
import { subtreeOf } from '../../model/forest.ts';
import { type Kind, type Known, mayProve, type Role } from '../../model/kind.ts';
import type { Node } from './tree.ts';

/** Which kind decides for a wrapper that carries several. */
const WEIGHT: readonly Kind[] = ['agent', 'lake', 'mcp', 'lean-lsp', 'lean', 'browser'];

/** A wrapper counts as what it carries, by its words or by what runs below it. */
export const carriedKind = (node: Node): Kind => {
  if (node.kind !== 'wrapper' && node.kind !== 'shell') return node.kind;
  if (node.kind === 'shell') return 'other';
  const carried = new Set([...subtreeOf(node)].map(below => below.kind));
  return WEIGHT.find(kind => carried.has(kind)) ?? node.seen.wraps ?? 'other';
};

/** How we know that it is, or carries, something of this kind: the strongest that its words or those below say. */
export const carriedKnowledge = (node: Node, kind: Kind): Known | null => {
  if (node.kind !== 'wrapper') return node.seen.known;
  let best: Known | null = null;
  for (const { kind: own, seen } of subtreeOf(node)) {
    if (own !== kind && seen.wraps !== kind) continue;
    if (mayProve(seen.known)) return seen.known;
    best ??= seen.known;
  }
  return best;
};

/** Lean's programs that speak over stdio to whoever started them; `lean FILE` speaks to nobody. */
const STDIO_ROLES: ReadonlySet<Role | null> = new Set(['lake-serve', 'lean-server', 'lean-worker']);

const SERVERS: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'browser']);

/** Of use only to whoever started it: servers, and the browsers they drive. Agents, builds and all else are work. */
export const isServer = (node: Node): boolean => {
  if (SERVERS.has(node.kind) || STDIO_ROLES.has(node.seen.role)) return true;
  if (node.kind !== 'wrapper') return false;
  if (SERVERS.has(carriedKind(node))) return true;
  for (const below of subtreeOf(node)) if (STDIO_ROLES.has(below.seen.role)) return true;
  return false;
};

/** It, or what the wrapper carries, can only serve a peer over stdio, as our list, its shape or the user's config say. */
const speaksStdioOnly = ({ kind, seen }: Node): boolean => {
  if (STDIO_ROLES.has(seen.role) || seen.role === 'piped-browser') return true;
  const carried = kind === 'wrapper' ? seen.wraps : kind;
  return (carried === 'mcp' || carried === 'lean-lsp') && mayProve(seen.known) && seen.transport !== 'http';
};

/** Why the conversation that a process exists for is over; null when it is not, or cannot be told. */
export const endedConversation = (node: Node): string | null => {
  const serves =
    speaksStdioOnly(node) || (node.kind === 'wrapper' && [...subtreeOf(node)].some(speaksStdioOnly));
  if (!serves) return null;
  const { stdin, drivingPipe } = node.facts.details ?? {};
  if (node.seen.role === 'piped-browser')
    return isAbandoned(drivingPipe) ? 'the pipe that it was driven by is closed' : null;
  return isAbandoned(stdin) ? 'the other end of its standard input is closed' : null;
};

const isAbandoned = (end: string | undefined): boolean =>
  end === 'abandoned-pipe' || end === 'abandoned-socket';

const firstPort = (node: Node): number | null => node.facts.details?.listening?.ports[0] ?? null;

/** The port of an MCP server that listens itself. */
export const servingPort = (node: Node): number | null => (node.kind === 'mcp' ? firstPort(node) : null);

/** The outermost of a browser's processes: its helpers go with it. */
const browserOf = (node: Node): Node => {
  let top = node;
  for (let up = node.parent; up !== null && (up.kind === 'browser' || up.kind === 'wrapper'); up = up.parent)
    if (up.kind === 'browser') top = up;
  return top;
};

/** A browser with the profile that an agent's server makes. */
export const isServersBrowser = (node: Node): boolean => {
  for (const { seen } of subtreeOf(browserOf(node))) if (seen.family === SERVER_BROWSER) return true;
  return false;
};

/** A browser that anybody may drive over TCP: without a trace of an agent it is as likely somebody's own. */
export const isOpenToDebuggers = (node: Node): boolean => {
  const browser = [...subtreeOf(browserOf(node))].filter(below => below.kind === 'browser');
  return (
    !isServersBrowser(node) &&
    browser.some(below => below.seen.role === 'debuggable-browser' || firstPort(below) !== null)
  );
};
