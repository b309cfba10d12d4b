import { type Kind, type Known, mayProve } from '../../model/kind.ts';
import {
  carriedKind,
  carriedKnowledge,
  endedConversation,
  isOpenToDebuggers,
  isServer,
  isServersBrowser,
} from './carries.ts';
import { browserOfHandler } from './crash-handler.ts';
import { foreignTo } from './owner.ts';
import type { Ownership } from './ownership.ts';
import { type Court, goesWith, type Ruling, rule, unlessDoubted } from './ruling.ts';
import { calls, type Node } from './tree.ts';
import type { World } from './world.ts';

/** Servers of an ended session are of no use to one that resumed it, unlike work that it detached. */
const SERVES_ONE_SESSION: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'lean', 'browser']);

/**
 * What an orphan root holds. A leak needs one of two proofs, a dead owner or an ended conversation, and nothing that
 * speaks against it.
 */
export const adopted = (court: Court, node: Node, ownership: Ownership | null, root: string): Ruling => {
  const orphaned = `adopted by ${root}`;
  const foreign = foreignTo(node, ownership);
  if (foreign?.fate === 'alive') return rule('live', foreign.why);
  if (node.seen.role === 'crash-handler') return helping(court, node, foreign, orphaned);
  const inherited = fromParent(court, node);
  if (inherited !== null) return inherited;
  const kind = carriedKind(node);
  if (foreign !== null && (foreign.fate !== 'undecided' || SERVES_ONE_SESSION.has(kind)))
    return ofOwner(court.world, node, kind, foreign, orphaned);
  return ofNobody(court.world, node, kind, orphaned);
};

const ofOwner = (world: World, node: Node, kind: Kind, foreign: Ownership, orphaned: string): Ruling => {
  // A session that was resumed may want its detached work back, but not the servers that served the old one.
  const missed = foreign.resumedBy !== undefined && !SERVES_ONE_SESSION.has(kind);
  if (foreign.fate === 'dead' && !missed) return unlessDoubted(world, node, foreign.why, orphaned);
  return rule('suspect', foreign.why, orphaned);
};

/** Nothing says whose it is: only that it has nobody left to talk to can prove that nobody wants it. */
const ofNobody = (world: World, node: Node, kind: Kind, orphaned: string): Ruling => {
  if (kind === 'browser' && isOpenToDebuggers(node))
    return rule('unknown', 'a browser with a debugging port; nothing connects it to an agent', orphaned);
  const ended = endedConversation(node);
  if (ended !== null) {
    if (world.observation.host.container)
      return rule('suspect', ended, `${orphaned}, as is normal in a container`);
    return unlessDoubted(world, node, ended, orphaned);
  }
  if (kind === 'browser' ? isServersBrowser(node) : isServer(node)) {
    const known = carriedKnowledge(node, kind);
    return mayProve(known) || node.seen.role !== null
      ? rule('suspect', `${orphaned}; no live owner is known, which alone proves nothing`)
      : rule(known === null ? 'unknown' : 'suspect', ...described(known), orphaned);
  }
  if (kind === 'agent' || kind === 'lake') {
    if (node.facts.details?.lostTerminal === true)
      return unlessDoubted(world, node, 'its terminal is gone', orphaned);
    return rule('suspect', `${orphaned}; it may be work somebody detached on purpose (nohup)`);
  }
  if (node.seen.role === 'bash-tool')
    return rule('suspect', "a shell of Claude's Bash tool; nothing says whose session it was", orphaned);
  return rule('unknown', `${orphaned}; nothing says who started it`);
};

/** A crash handler ends by itself with its browser: while it runs, that one decides. */
const helping = (court: Court, node: Node, foreign: Ownership | null, orphaned: string): Ruling => {
  const browser = browserOfHandler(node, court.world.tree);
  if (browser === null)
    return foreign === null || foreign.fate === 'undecided'
      ? rule('unknown', `${orphaned}; nothing says who started it`)
      : rule('suspect', 'the browser that it belongs to was not found', foreign.why, orphaned);
  const judged = court.judge(browser);
  return goesWith(browser, {
    ...judged,
    verdict: judged.verdict === 'protected' ? 'live' : judged.verdict,
  });
};

/** A subtree is judged by its root: what hangs below a leaked server goes with it. */
const fromParent = (court: Court, node: Node): Ruling | null => {
  const { world, isRelated, judge } = court;
  const { parent } = node;
  // The same climb means that it led through the parent; an adopter above is no parent in this sense.
  if (parent === null || world.climb(parent) !== world.climb(node)) return null;
  const judged = judge(parent);
  const { verdict, why } = judged;
  if (judged.unread || (verdict === 'unknown' && parent.facts.argv === null))
    return rule('unknown', `its parent ${calls(parent)} cannot be read`);
  if (verdict === 'unknown') return null;
  if (verdict === 'protected') {
    const because = `its parent ${calls(parent)} is protected: ${why[0]}`;
    return rule(isRelated(node) ? 'live' : 'unknown', because);
  }
  return goesWith(parent, judged);
};

/** What a name or a file that anybody may have written says, and that it is no proof. */
const described = (known: Known | null): string[] => {
  if (known === 'command')
    return ['a sub-command called mcp looks like a server; nothing says who started it'];
  if (known === 'project') return ["a project's file names it as an MCP server, which alone proves nothing"];
  return [];
};
