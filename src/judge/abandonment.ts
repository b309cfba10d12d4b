import type { Kind } from '../model/kind.ts';
import { isZombie } from '../model/process.ts';
import { type Node, subtreeOf } from './tree.ts';

/** Kinds of which one parent needs only one with the same words. */
const SERVERS: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'browser']);

const isServer = (node: Node): boolean =>
  SERVERS.has(node.kind) ||
  (node.kind === 'wrapper' && [...subtreeOf(node)].some(below => SERVERS.has(below.kind)));

/** One key per (parent, cwd, argv): two servers that share it are duplicates. */
const duplicateKey = (node: Node): string | null =>
  node.facts.argv === null || node.facts.argv.length === 0 || isZombie(node.facts)
    ? null
    : JSON.stringify([node.facts.argv, node.facts.details?.cwd ?? null]);

/** Siblings that are the same server again, oldest first; the newest one is the one in use. */
export const duplicatesOf = (node: Node): Node[] => {
  const key = duplicateKey(node);
  if (key === null || node.parent === null || !isServer(node)) return [];
  return node.parent.children
    .filter(sibling => isServer(sibling) && duplicateKey(sibling) === key)
    .sort((a, b) => (a.facts.born ?? 0) - (b.facts.born ?? 0) || a.facts.pid - b.facts.pid);
};

/** Whatever talks over its standard input. Shells, builds and agents read it once, or not at all: an ended writer means nothing. */
const TALKS_OVER_STDIN: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'browser', 'other']);

/** Evidence that a process below a live agent is no longer used; null when there is none. */
export const abandonment = (node: Node): string | null => {
  const same = duplicatesOf(node);
  const newest = same.at(-1);
  if (newest !== undefined && newest !== node)
    return `the same server runs again as ${newest.facts.pid}, which is newer`;
  if (TALKS_OVER_STDIN.has(node.kind) && node.facts.details?.stdin === 'abandoned-pipe')
    return 'nobody holds the other end of its standard input';
  return null;
};
