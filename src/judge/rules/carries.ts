import { SERVER_BROWSER } from '../../agents/index.ts';
import { subtreeOf } from '../../model/forest.ts';
import { type Kind, type Known, mayProve } from '../../model/kind.ts';
import { calls, type Node } from './tree.ts';

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

const firstPort = (node: Node): number | null => node.facts.details?.listening?.ports[0] ?? null;

const listens = (node: Node, counts: (below: Node) => boolean): number | null => {
  for (const below of subtreeOf(node)) {
    const port = counts(below) ? firstPort(below) : null;
    if (port !== null) return port;
  }
  return null;
};

/** A stdio server may listen as well (for a login, for debugging), if its flags or our list say that it is one. */
const isSurelyStdio = ({ seen }: Node): boolean => seen.saysStdio && mayProve(seen.known);

/** Whose sockets may not be looked at, and who does not surely speak stdio: unknown is never a leak. */
const hiding = (node: Node): Node | null => {
  for (const below of subtreeOf(node))
    if (below.facts.details?.listening?.hidden === true && !isSurelyStdio(below)) return below;
  return null;
};

/** Why somebody besides its owner may want what a process serves over TCP; null when it serves nothing. */
export const wantedByOthers = (node: Node): string | null => {
  const kind = carriedKind(node);
  const hidden = kind === 'other' || kind === 'mcp' ? hiding(node) : null;
  if (hidden !== null) return `whether ${calls(hidden)} listens cannot be read`;
  if (kind === 'other') {
    const port = listens(node, () => true);
    return port === null ? null : `listens on port ${port}: somebody may want it`;
  }
  if (kind !== 'mcp') return null;
  const port = listens(node, below => below.kind === 'mcp' && !isSurelyStdio(below));
  return port === null ? null : `listens on port ${port}, and nothing says that it speaks stdio only`;
};

/** The port of an MCP server that listens itself. */
export const servingPort = (node: Node): number | null => (node.kind === 'mcp' ? firstPort(node) : null);

/** The outermost of a browser's processes: its helpers go with it. */
const browserOf = (node: Node): Node => {
  let top = node;
  for (let up = node.parent; up !== null && (up.kind === 'browser' || up.kind === 'wrapper'); up = up.parent)
    if (up.kind === 'browser') top = up;
  return top;
};

/** A browser that anybody may drive over TCP: without a trace of an agent it is as likely somebody's own. */
export const isOpenToDebuggers = (node: Node): boolean => {
  const browser = [...subtreeOf(browserOf(node))].filter(below => below.kind === 'browser');
  return (
    !browser.some(({ seen }) => seen.family === SERVER_BROWSER) &&
    browser.some(below => below.seen.role === 'debuggable-browser' || firstPort(below) !== null)
  );
};
