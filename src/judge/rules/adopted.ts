import { type Kind, type Known, mayProve } from '../../model/kind.ts';
import { buildBelow, workBelow } from './at-work.ts';
import { carriedKind, carriedKnowledge, isOpenToDebuggers, wantedByOthers } from './carries.ts';
import { browserOfHandler } from './crash-handler.ts';
import { foreignTo } from './owner.ts';
import type { Ownership } from './ownership.ts';
import { type Court, goesWith, type Ruling, rule } from './ruling.ts';
import { calls, type Node } from './tree.ts';
import type { World } from './world.ts';

/** Of no use to anybody without an owner: stdio servers and what they start. */
const LEAKS_ALONE: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'lean', 'browser']);

/** What an orphan root holds: its owner decides, then its parent, then what it is. */
export const adopted = (court: Court, node: Node, ownership: Ownership | null, root: string): Ruling => {
  const orphaned = `adopted by ${root}`;
  const foreign = foreignTo(node, ownership);
  if (foreign?.fate === 'alive') return rule('live', foreign.why);
  if (node.seen.role === 'crash-handler') return helping(court, node, foreign, orphaned);
  const inherited = fromParent(court, node);
  if (inherited !== null) return inherited;
  const kind = carriedKind(node);
  if (foreign !== null && (foreign.fate !== 'undecided' || LEAKS_ALONE.has(kind)))
    return ofOwner(court.world, node, kind, foreign, orphaned);
  return ofNobody(court.world, node, kind, orphaned);
};

const ofOwner = (world: World, node: Node, kind: Kind, foreign: Ownership, orphaned: string): Ruling => {
  const wanted = wantedByOthers(node);
  if (wanted !== null) return rule('suspect', wanted, foreign.why, orphaned);
  const work = foreign.fate === 'dead' ? workBelow(node, world) : null;
  if (work !== null) return rule('suspect', work, foreign.why, orphaned);
  // A session that was resumed may want its detached work back, but not the servers that served the old one.
  const missed = foreign.resumedBy !== undefined && !LEAKS_ALONE.has(kind);
  if (foreign.fate === 'dead' && !missed) return rule('leak', foreign.why, orphaned);
  return rule('suspect', foreign.why, orphaned);
};

/** Nothing says whose it is: what it is must prove that nobody can want it. */
const ofNobody = (world: World, node: Node, kind: Kind, orphaned: string): Ruling => {
  // lake serve only wraps `lean --server`, and speaks over stdio like it.
  if (LEAKS_ALONE.has(kind) || node.seen.role === 'lake-serve') {
    if (kind === 'browser' && isOpenToDebuggers(node))
      return rule('unknown', `a browser with a debugging port; nothing connects it to an agent`, orphaned);
    const known = carriedKnowledge(node, kind);
    if (!mayProve(known)) return rule(known === null ? 'unknown' : 'suspect', ...described(known), orphaned);
    const work = workBelow(node, world);
    if (work !== null) return rule('suspect', work, orphaned);
    return world.observation.host.container
      ? rule('suspect', `${orphaned}, as is normal in a container; no live owner is known`)
      : rule('leak', `${orphaned}; no live owner is known`);
  }
  if (kind === 'agent' || kind === 'lake') {
    if (node.facts.details?.lostTerminal === true) {
      // `claude -p … > log & disown`: the window was closed over work that goes on.
      const work = workBelow(node, world) ?? (kind === 'lake' ? buildBelow(node) : null);
      return work === null
        ? rule('leak', 'its terminal is gone', orphaned)
        : rule('suspect', work, 'its terminal is gone', orphaned);
    }
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
  return goesWith(node, browser, {
    ...judged,
    verdict: judged.verdict === 'protected' ? 'live' : judged.verdict,
  });
};

/** A subtree is judged by its root: what hangs below a leaked server goes with it. */
const fromParent = ({ world, isRelated, judge }: Court, node: Node): Ruling | null => {
  const { parent } = node;
  // The same climb means that it led through the parent; an adopter above is no parent in this sense.
  if (parent === null || world.climb(parent) !== world.climb(node)) return null;
  const judged = judge(parent);
  const { verdict, why } = judged;
  if (verdict === 'unknown') return null;
  if (verdict === 'protected') {
    const because = `its parent ${calls(parent)} is protected: ${why[0]}`;
    return rule(isRelated(node) ? 'live' : 'unknown', because);
  }
  return goesWith(node, parent, judged);
};

/** What a name or a file that anybody may have written says, and that it is no proof. */
const described = (known: Known | null): string[] => {
  if (known === 'command')
    return ['a sub-command called mcp looks like a server; nothing says who started it'];
  if (known === 'project') return ["a project's file names it as an MCP server, which alone proves nothing"];
  return [];
};
