import { type Kind, type Known, mayProve } from '../../model/kind.ts';
import { isZombie } from '../../model/process.ts';
import {
  carriedKind,
  carriedKnowledge,
  endedConversation,
  isOpenToDebuggers,
  isServerNode,
  isServersBrowser,
} from './effective-kind.ts';
import { foreignTo } from './owner.ts';
import { mayBeOwned, type OwnerEvidence } from './owner-evidence.ts';
import { goesWith, type RuleContext, type Ruling, rule, unlessDoubted } from './ruling.ts';
import { type Node, nodeLabel, type Tree } from './tree.ts';
import type { VerdictContext } from './verdict-context.ts';

/** Servers of an ended session are of no use to one that resumed it, unlike work that it detached. */
const SERVES_ONE_SESSION: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'lean', 'browser']);

/**
 * What an orphan root holds. A leak needs one of two proofs, a dead owner or an ended conversation, and nothing that
 * speaks against it.
 */
export const adopted = (
  rules: RuleContext,
  node: Node,
  ownership: OwnerEvidence | null,
  root: string,
): Ruling => {
  const orphaned = `adopted by ${root}`;
  const foreign = foreignTo(node, ownership);
  if (foreign?.fate === 'alive') return rule('live', foreign.why);
  if (node.seen.role === 'crash-handler') return helping(rules, node, foreign, orphaned);
  const inherited = fromParent(rules, node);
  if (inherited !== null && !(inherited.verdict === 'leak' && mayBeOwned(node, foreign))) return inherited;
  const kind = carriedKind(node);
  if (foreign !== null && (foreign.fate !== 'undecided' || SERVES_ONE_SESSION.has(kind)))
    return ofOwner(rules.context, node, kind, foreign, orphaned);
  return ofNobody(rules.context, node, kind, orphaned);
};

const ofOwner = (
  context: VerdictContext,
  node: Node,
  kind: Kind,
  foreign: OwnerEvidence,
  orphaned: string,
): Ruling => {
  // A session that was resumed may want its detached work back, but not the servers that served the old one.
  const missed = foreign.resumedBy !== undefined && !SERVES_ONE_SESSION.has(kind);
  if (foreign.fate === 'dead' && !missed) return unlessDoubted(context, node, foreign.why, orphaned);
  return rule('suspect', foreign.why, orphaned);
};

/** Its owner is unknown: only an ended conversation can prove that it is not needed. */
const ofNobody = (context: VerdictContext, node: Node, kind: Kind, orphaned: string): Ruling => {
  if (kind === 'browser' && isOpenToDebuggers(node))
    return rule('unknown', 'a browser with a debugging port; nothing connects it to an agent', orphaned);
  const ended = endedConversation(node);
  if (ended !== null) {
    if (context.observation.host.container)
      return rule('suspect', ended, `${orphaned}, as is normal in a container`);
    return unlessDoubted(context, node, ended, orphaned);
  }
  if (kind === 'browser' ? isServersBrowser(node) : isServerNode(node)) {
    const known = carriedKnowledge(node, kind);
    return mayProve(known) || node.seen.role !== null
      ? rule('suspect', `${orphaned}; no live owner is known, which alone proves nothing`)
      : rule(known === null ? 'unknown' : 'suspect', ...described(known), orphaned);
  }
  if (kind === 'agent' || kind === 'lake') {
    if (node.facts.details?.lostTerminal === true)
      return unlessDoubted(context, node, 'its terminal is gone', orphaned);
    return rule('suspect', `${orphaned}; it may be detached on purpose (nohup)`);
  }
  if (node.seen.role === 'bash-tool')
    return rule('suspect', "a shell of Claude's Bash tool; its session is not known", orphaned);
  return rule('unknown', `${orphaned}; it is not known who started it`);
};

/** A crash handler ends by itself with its browser: while it runs, that one decides. */
const helping = (rules: RuleContext, node: Node, foreign: OwnerEvidence | null, orphaned: string): Ruling => {
  const browser = browserOfHandler(node, rules.context.tree);
  if (browser === null)
    return foreign === null || foreign.fate === 'undecided'
      ? rule('unknown', `${orphaned}; it is not known who started it`)
      : rule('suspect', 'the browser that it belongs to was not found', foreign.why, orphaned);
  const judged = rules.judge(browser);
  return goesWith(browser, {
    ...judged,
    verdict: judged.verdict === 'protected' ? 'live' : judged.verdict,
  });
};

/** A subtree is judged by its root: what hangs below a leaked server goes with it. */
const fromParent = (rules: RuleContext, node: Node): Ruling | null => {
  const { context, isRelated, judge } = rules;
  const { parent } = node;
  // The same climb means that it led through the parent; an adopter above is no parent in this sense.
  if (parent === null || context.climb(parent) !== context.climb(node)) return null;
  const judged = judge(parent);
  const { verdict, why } = judged;
  if (judged.unread || (verdict === 'unknown' && isUnread(parent)))
    return { ...rule('unknown', `its parent ${nodeLabel(parent)} cannot be read`), unread: true };
  if (verdict === 'unknown') return null;
  if (verdict === 'protected') {
    const because = `its parent ${nodeLabel(parent)} is protected: ${why[0]}`;
    return rule(isRelated(node) ? 'live' : 'unknown', because);
  }
  return goesWith(parent, judged);
};

/** What could protect it, name its owner or show that it is in use was not read. The sockets of a shell are not asked for. */
const isUnread = ({ kind, facts: { argv, env, pgid, details } }: Node): boolean =>
  argv === null ||
  env === null ||
  pgid === null ||
  (kind !== 'shell' &&
    (details === null || details.listening === null || details.uses === null || details.cgroup === null));

/** What a name or a file that anybody may have written says, and that it is no proof. */
const described = (known: Known | null): string[] => {
  if (known === 'command')
    return ['a sub-command called mcp looks like a server; it is not known who started it'];
  if (known === 'project') return ["a project's file names it as an MCP server, which alone proves nothing"];
  if (known === 'alike')
    return [
      'its command line is shortened; one that begins the same is a server, which alone proves nothing',
    ];
  return [];
};

/** A browser starts its crash handler before anything else. */
const SECONDS_AFTER_BROWSER = 5;

/** The browser that a crash handler was started by: the last one to start before it. Nothing else ties the two. */
export const browserOfHandler = ({ facts: { born } }: Node, tree: Tree): Node | null => {
  let best: Node | null = null;
  for (const node of tree.nodes) {
    const started = node.facts.born;
    if (node.kind !== 'browser' || isZombie(node.facts) || born === null || started === null) continue;
    if (started > born || born - started > SECONDS_AFTER_BROWSER) continue;
    if (node.parent?.kind === 'browser') continue; // its own renderers start about then, too
    if (best === null || started > (best.facts.born ?? 0)) best = node;
  }
  return best;
};
