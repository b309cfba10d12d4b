import { SERVER_BROWSER } from '../../agents/browsers.ts';
import { fromAbove, fromBelow } from '../../model/forest.ts';
import { type Kind, type Known, mayProve, type Role } from '../../model/kind.ts';
import type { Node } from './tree.ts';

/** Which kind decides for a wrapper that carries several. */
const WEIGHT: readonly Kind[] = ['agent', 'lake', 'mcp', 'lean-lsp', 'lean', 'browser'];

/** Lean's programs that talk over stdio to what started them; `lean FILE` does not. */
const STDIO_ROLES: ReadonlySet<Role | null> = new Set(['lake-serve', 'lean-server', 'lean-worker']);

/** What is in a subtree, by the words of its processes. */
interface Carried {
  readonly kinds: ReadonlySet<Kind>;
  /** How we know that something is, or wraps, one of a kind: the strongest. */
  readonly known: ReadonlyMap<Kind, Known>;
  /** One of Lean's programs that talk over stdio. */
  readonly stdioRole: boolean;
  /** Something that can only serve a peer over stdio. */
  readonly stdioOnly: boolean;
  /** A browser with the profile that an agent's server makes. */
  readonly serversBrowser: boolean;
}

/** Asked of every wrapper of a chain: worked out once a process. */
const carriedBy = fromBelow<Node, Carried>((node, below) => {
  const { kind, seen } = node;
  const kinds = new Set([kind]);
  const known = new Map<Kind, Known>();
  const learn = (of: Kind, how: Known): void => {
    const before = known.get(of);
    if (before === undefined || (!mayProve(before) && mayProve(how))) known.set(of, how);
  };
  if (seen.known !== null) {
    learn(kind, seen.known);
    if (seen.wraps !== null) learn(seen.wraps, seen.known);
  }
  for (const child of below) {
    for (const one of child.kinds) kinds.add(one);
    for (const [of, how] of child.known) learn(of, how);
  }
  return {
    kinds,
    known,
    stdioRole: STDIO_ROLES.has(seen.role) || below.some(child => child.stdioRole),
    stdioOnly: speaksStdioOnly(node) || below.some(child => child.stdioOnly),
    serversBrowser: seen.family === SERVER_BROWSER || below.some(child => child.serversBrowser),
  };
});

/** A wrapper counts as what it carries, by its words or by what runs below it. */
export const carriedKind = (node: Node): Kind => {
  if (node.kind !== 'wrapper' && node.kind !== 'shell') return node.kind;
  if (node.kind === 'shell') return 'other';
  const { kinds } = carriedBy(node);
  return WEIGHT.find(kind => kinds.has(kind)) ?? node.seen.wraps ?? 'other';
};

/** How we know that it is, or carries, something of this kind: the strongest that its words or those below say. */
export const carriedKnowledge = (node: Node, kind: Kind): Known | null =>
  node.kind === 'wrapper' ? (carriedBy(node).known.get(kind) ?? null) : node.seen.known;

const SERVERS: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'browser']);

/** A wrapper around a server, by its own words or by what runs below it. */
export const wrapsServer = (node: Node): boolean =>
  node.kind === 'wrapper' &&
  (SERVERS.has(node.seen.wraps ?? 'other') || [...SERVERS].some(kind => carriedBy(node).kinds.has(kind)));

/** Of use only to what started it: servers, and the browsers they drive. Agents, builds and all else are work. */
export const isServerNode = (node: Node): boolean => {
  if (SERVERS.has(node.kind) || STDIO_ROLES.has(node.seen.role)) return true;
  return node.kind === 'wrapper' && (SERVERS.has(carriedKind(node)) || carriedBy(node).stdioRole);
};

/** It, or what the wrapper carries, can only serve a peer over stdio, as our list, its shape or the user's config say. */
const speaksStdioOnly = ({ kind, seen }: Node): boolean => {
  if (STDIO_ROLES.has(seen.role) || seen.role === 'piped-browser') return true;
  const carried = kind === 'wrapper' ? seen.wraps : kind;
  return (carried === 'mcp' || carried === 'lean-lsp') && mayProve(seen.known) && seen.transport !== 'http';
};

/** Why the conversation that a process exists for is over; null when it is not, or that is unknown. */
export const endedConversation = (node: Node): string | null => {
  const serves = node.kind === 'wrapper' ? carriedBy(node).stdioOnly : speaksStdioOnly(node);
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

const isBrowserOrWrapper = ({ kind }: Node): boolean => kind === 'browser' || kind === 'wrapper';

/** The outermost of a browser's processes: its helpers go with it. */
const browserOf = fromAbove<Node, Node>((node, above) => {
  // Through wrappers between two browsers, but not up to a wrapper around them.
  if (node.parent === null || !isBrowserOrWrapper(node.parent)) return node;
  return above!.kind === 'browser' ? above! : node;
});

/** A browser with the profile that an agent's server makes. */
export const isServersBrowser = (node: Node): boolean => carriedBy(browserOf(node)).serversBrowser;

const isDebuggable = fromBelow<Node, boolean>(
  (node, below) =>
    below.includes(true) ||
    (node.kind === 'browser' && (node.seen.role === 'debuggable-browser' || firstPort(node) !== null)),
);

/**
 * A browser that any program may drive over TCP: without a trace of an agent it may well be the user's own. Asked once
 * its ports are known.
 */
export const isOpenToDebuggers = (node: Node): boolean =>
  !isServersBrowser(node) && isDebuggable(browserOf(node));
