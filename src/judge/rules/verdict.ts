import { type Kind, type Known, mayProve } from '../../model/kind.ts';
import { belonging, isZombie } from '../../model/process.ts';
import type { Verdict } from '../../model/snapshot.ts';
import { abandonment } from './abandonment.ts';
import { workBelow } from './at-work.ts';
import { carriedKind, carriedKnowledge, isOpenToDebuggers, wantedByOthers } from './carries.ts';
import type { Climb } from './climb.ts';
import { browserOfHandler } from './crash-handler.ts';
import { isOwnOwner, ownershipOf } from './owner.ts';
import type { Ownership } from './ownership.ts';
import { hardReason, softReason } from './protect.ts';
import { agentAbove, calls, type Node } from './tree.ts';
import type { World } from './world.ts';

export interface Judgement {
  readonly verdict: Verdict;
  readonly why: readonly string[];
  readonly protection: 'hard' | 'soft' | null;
  readonly protectedBecause: string | null;
  readonly ownership: Ownership | null;
}

type Ruling = { readonly verdict: Verdict; readonly why: readonly string[] };

const rule = (verdict: Verdict, ...why: string[]): Ruling => ({ verdict, why });

/** Judges processes of one world, each once. `isRelated` decides between "live" and "none of our business". */
export const judgeWith = (world: World, isRelated: (node: Node) => boolean): ((node: Node) => Judgement) => {
  const known = new Map<Node, Judgement>();

  const judge = (node: Node): Judgement => {
    const before = known.get(node);
    if (before !== undefined) return before;
    const hard = hardReason(node, world);
    const ownership = hard !== null && !isRelated(node) ? null : ownershipOf(node, world);
    const soft = hard === null ? softReason(node, world, below => ownershipOf(below, world)) : null;
    const because = hard ?? soft;
    const judgement: Judgement = {
      ...decide(node, ownership, hard, soft),
      protection: hard !== null ? 'hard' : soft !== null ? 'soft' : null,
      protectedBecause: because,
      ownership,
    };
    known.set(node, judgement);
    return judgement;
  };

  /** Section 5 of the contract, in its order: the first rule that matches decides. */
  const decide = (
    node: Node,
    ownership: Ownership | null,
    hard: string | null,
    soft: string | null,
  ): Ruling => {
    if (hard !== null) return rule('protected', hard);
    if (isZombie(node.facts)) return asItsParent(node);
    // A recorded table may simply lack the column; on a live machine an owner we cannot read is a stranger's.
    if (node.facts.unreadable || isUntold(node, world))
      return rule('unknown', 'its state or owner may not be read');
    const agent = agentAbove(node);
    if (agent !== null) return belowAgent(node, agent);
    const climb = world.climb(node);
    if (climb.end === 'pane' || climb.end === 'anchor') return held(node, climb);
    if (soft !== null) return rule('protected', soft);
    if (climb.end === 'orphan-root') return adopted(node, ownership, climb.root);
    return unknownTop(node, ownership, climb);
  };

  const asItsParent = (node: Node): Ruling => {
    if (node.parent === null) return rule('unknown', 'has ended; its parent is not in the table');
    const { verdict } = judge(node.parent);
    return rule(verdict, `has ended and waits to be reaped by ${calls(node.parent)}`);
  };

  const belowAgent = (node: Node, agent: Node): Ruling => {
    const above = `runs below ${calls(agent)}`;
    const { verdict, why } = judge(agent);
    if (verdict === 'leak' || verdict === 'suspect')
      return rule(verdict, `${above}, which is ${verdict === 'leak' ? 'leaked' : 'suspect'}: ${why[0]}`);
    const finished = world.finishedBecause(agent);
    if (finished !== null) return rule('suspect', finished, above);
    for (const at of upTo(node, agent)) {
      const evidence = abandonment(at);
      if (evidence !== null)
        return rule('suspect', at === node ? evidence : `goes with ${calls(at)}: ${evidence}`, above);
    }
    return rule('live', above);
  };

  const held = (node: Node, climb: Climb & { end: 'pane' | 'anchor' }): Ruling => {
    const where =
      climb.end === 'anchor'
        ? `started from ${climb.at}`
        : climb.pane === null
          ? 'sits below a tmux server'
          : `sits in tmux pane ${climb.pane.session}:${climb.pane.pane}`;
    return isRelated(node)
      ? rule('live', where)
      : rule('unknown', `${where}; nothing connects it to an agent`);
  };

  const adopted = (node: Node, ownership: Ownership | null, root: string): Ruling => {
    const orphaned = `adopted by ${root}`;
    const foreign = ownership !== null && !isOwnOwner(node, ownership) ? ownership : null;
    if (foreign?.fate === 'alive') return rule('live', foreign.why);
    if (node.seen.role === 'crash-handler') return helping(node, foreign, orphaned);
    const inherited = fromParent(node);
    if (inherited !== null) return inherited;
    const kind = carriedKind(node);
    if (foreign !== null && (foreign.fate !== 'undecided' || LEAKS_ALONE.has(kind))) {
      const wanted = wantedByOthers(node);
      if (wanted !== null) return rule('suspect', wanted, foreign.why, orphaned);
      const work = foreign.fate === 'dead' ? workBelow(node, world) : null;
      if (work !== null) return rule('suspect', work, foreign.why, orphaned);
      // A session that was resumed may want its detached work back, but not the servers that served the old one.
      const missed = foreign.resumedBy !== undefined && !LEAKS_ALONE.has(kind);
      if (foreign.fate === 'dead' && !missed) return rule('leak', foreign.why, orphaned);
      return rule('suspect', foreign.why, orphaned);
    }
    // lake serve only wraps `lean --server`, and speaks over stdio like it.
    if (LEAKS_ALONE.has(kind) || node.seen.role === 'lake-serve') {
      if (kind === 'browser' && isOpenToDebuggers(node))
        return rule('unknown', `a browser with a debugging port; nothing connects it to an agent`, orphaned);
      const known = carriedKnowledge(node, kind);
      if (!mayProve(known))
        return rule(known === null ? 'unknown' : 'suspect', ...described(known), orphaned);
      const work = workBelow(node, world);
      if (work !== null) return rule('suspect', work, orphaned);
      return world.observation.host.container
        ? rule('suspect', `${orphaned}, as is normal in a container; no live owner is known`)
        : rule('leak', `${orphaned}; no live owner is known`);
    }
    if (kind === 'agent' || kind === 'lake') {
      if (node.facts.details?.lostTerminal === true) return rule('leak', 'its terminal is gone', orphaned);
      return rule('suspect', `${orphaned}; it may be work somebody detached on purpose (nohup)`);
    }
    if (node.seen.role === 'bash-tool')
      return rule('suspect', "a shell of Claude's Bash tool; nothing says whose session it was", orphaned);
    return rule('unknown', `${orphaned}; nothing says who started it`);
  };

  /** A crash handler ends by itself with its browser: while it runs, that one decides. */
  const helping = (node: Node, foreign: Ownership | null, orphaned: string): Ruling => {
    const browser = browserOfHandler(node, world.tree);
    if (browser === null)
      return foreign === null || foreign.fate === 'undecided'
        ? rule('unknown', `${orphaned}; nothing says who started it`)
        : rule('suspect', 'the browser that it belongs to was not found', foreign.why, orphaned);
    const { verdict, why } = judge(browser);
    return goesWith(node, browser, verdict === 'protected' ? 'live' : verdict, why);
  };

  /** A subtree is judged by its root: what hangs below a leaked server goes with it. */
  const fromParent = (node: Node): Ruling | null => {
    const { parent } = node;
    // The same climb means that it led through the parent; an adopter above is no parent in this sense.
    if (parent === null || world.climb(parent) !== world.climb(node)) return null;
    const { verdict, why } = judge(parent);
    if (verdict === 'unknown') return null;
    if (verdict === 'protected') {
      const because = `its parent ${calls(parent)} is protected: ${why[0]}`;
      return rule(isRelated(node) ? 'live' : 'unknown', because);
    }
    return goesWith(node, parent, verdict, why);
  };

  const goesWith = (node: Node, parent: Node, verdict: Verdict, why: readonly string[]): Ruling => {
    const because = `goes with ${calls(parent)}: ${why[0]}`;
    const wanted = verdict === 'leak' ? wantedByOthers(node) : null;
    return wanted === null ? rule(verdict, because) : rule('suspect', wanted, because);
  };

  const unknownTop = (node: Node, ownership: Ownership | null, climb: Climb): Ruling => {
    const foreign = ownership !== null && !isOwnOwner(node, ownership) ? ownership : null;
    if (foreign?.fate === 'alive') return rule('live', foreign.why);
    if (climb.end === 'stranger' && isRelated(climb.at)) {
      const { verdict, why } = judge(climb.at);
      if (verdict === 'leak' || verdict === 'suspect') return goesWith(node, climb.at, verdict, why);
    }
    const top =
      climb.end === 'stranger'
        ? `its parent ${calls(climb.at)} is alive and not known to us`
        : 'its parent is not in the table';
    return foreign === null || foreign.fate === 'undecided'
      ? rule('unknown', top)
      : rule('suspect', foreign.why, top);
  };

  return judge;
};

/** The node and what is above it, below `top`. */
function* upTo(node: Node, top: Node): Generator<Node> {
  for (let at: Node | null = node; at !== null && at !== top; at = at.parent) yield at;
}

/** Of no use to anybody without an owner: stdio servers and what they start. */
const LEAKS_ALONE: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'lean', 'browser']);

const isUntold = ({ facts }: Node, { observation: { self } }: World): boolean =>
  self !== null && belonging(facts, self.uid) === 'untold';

/** What a name or a file that anybody may have written says, and that it is no proof. */
const described = (known: Known | null): string[] => {
  if (known === 'command')
    return ['a sub-command called mcp looks like a server; nothing says who started it'];
  if (known === 'project') return ["a project's file names it as an MCP server, which alone proves nothing"];
  return [];
};
