import { subtreeOf } from '../../model/forest.ts';
import type { Kind } from '../../model/kind.ts';
import { isZombie, sameArgv } from '../../model/process.ts';
import { carrierOf, type Node } from './tree.ts';

/** Kinds of which one parent needs only one with the same words. */
const SERVERS: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'browser']);

const isServer = (node: Node): boolean =>
  SERVERS.has(node.kind) ||
  (node.kind === 'wrapper' &&
    (SERVERS.has(node.seen.wraps ?? 'other') || [...subtreeOf(node)].some(below => SERVERS.has(below.kind))));

/** Workers that a server forked have its words, and there are several on purpose. */
const isWorkerOfItself = ({ facts, parent }: Node): boolean =>
  sameArgv(facts.argv, parent?.facts.argv ?? null);

const canBeDuplicate = (node: Node): boolean =>
  node.facts.details?.cwd != null &&
  (node.facts.argv?.length ?? 0) > 0 &&
  !isZombie(node.facts) &&
  isServer(node) &&
  !isWorkerOfItself(node);

/** Compared pair by pair, cheapest first: 50 servers below one agent are 2,500 pairs at every look. */
const isSameServer = (a: Node, b: Node): boolean =>
  a.kind === b.kind &&
  sameArgv(a.facts.argv, b.facts.argv) &&
  a.facts.details?.cwd === b.facts.details?.cwd &&
  canBeDuplicate(b);

/** Among what a parent runs, seen through the wrappers and shells in between. */
const sameServers = (node: Node, carrier: Node, found: Node[] = []): Node[] => {
  for (const child of carrier.children) {
    if (isSameServer(node, child)) found.push(child);
    if (child.kind === 'wrapper' || child.kind === 'shell') sameServers(node, child, found);
  }
  return found;
};

/** The same server for the same parent again, oldest first; the newest one is the one in use. */
const duplicatesOf = (node: Node, servesOne: (agent: Node) => boolean): Node[] => {
  const carrier = carrierOf(node);
  // What serves several sessions runs one server for each of them.
  if (carrier === null || !canBeDuplicate(node) || !servesOne(carrier)) return [];
  return sameServers(node, carrier).sort(
    (a, b) => (a.facts.born ?? 0) - (b.facts.born ?? 0) || a.facts.pid - b.facts.pid,
  );
};

/** Whatever talks over its standard input. Shells, builds and agents read it once, or not at all: an ended writer means nothing. */
const TALKS_OVER_STDIN: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'browser', 'other']);

const talksOverStdin = (node: Node): boolean =>
  TALKS_OVER_STDIN.has(node.kind) || (node.kind === 'wrapper' && isServer(node));

/** Evidence that a process below a live agent is no longer used; null when there is none. */
export const abandonment = (node: Node, servesOne: (agent: Node) => boolean): string | null => {
  const same = duplicatesOf(node, servesOne);
  const newest = same.at(-1);
  if (newest !== undefined && newest !== node)
    return `the same server runs again as ${newest.facts.pid}, which is newer`;
  if (talksOverStdin(node) && node.facts.details?.stdin === 'abandoned-pipe')
    return 'nobody holds the other end of its standard input';
  return null;
};
