import { fromAbove, subtreeOf } from '../../model/forest.ts';
import type { Kind } from '../../model/kind.ts';
import { isZombie, sameArgv, userRelation } from '../../model/process.ts';
import { adopted } from './adopted.ts';
import type { Climb } from './climb.ts';
import { wrapsServer } from './effective-kind.ts';
import { foreignTo, ownershipOf } from './owner.ts';
import { mayBeOwned, type OwnerEvidence } from './owner-evidence.ts';
import { hardReason, hostReason, softReasons } from './protect.ts';
import { goesWith, type RuleContext, type Ruling, rule } from './ruling.ts';
import { agentAbove, CARRIES_OTHERS, carrierOf, isRunningAgent, type Node, nodeLabel } from './tree.ts';
import type { VerdictContext } from './verdict-context.ts';

export interface Judgement extends Ruling {
  readonly protection: 'hard' | 'soft' | null;
  readonly protectedBecause: string | null;
  readonly ownership: OwnerEvidence | null;
}

/** Judges processes of one context, each once. `isRelated` decides between "live" and "none of our business". */
export const judgeWith = (
  context: VerdictContext,
  isRelated: (node: Node) => boolean,
): ((node: Node) => Judgement) => {
  const known = new Map<Node, Judgement>();
  const softReason = softReasons(context, below => ownershipOf(below, context));
  const judge = (node: Node): Judgement => {
    const before = known.get(node);
    if (before !== undefined) return before;
    const hard = hardReason(node, context);
    const ownership = hard !== null && !isRelated(node) ? null : ownershipOf(node, context);
    const soft = hard === null ? softReason(node) : null;
    const judgement: Judgement = {
      protection: hard !== null ? 'hard' : soft !== null ? 'soft' : null,
      protectedBecause: hard ?? soft,
      ownership,
      // Last: V8 takes four times as long to add fields to a spread, and this is done for every process.
      ...decide(rules, node, ownership, { hard, soft }),
    };
    known.set(node, judgement);
    return judgement;
  };
  const rules: RuleContext = { context, isRelated, judge, abandoned: abandonedAt(context.servesOne) };
  return judge;
};

interface Protection {
  readonly hard: string | null;
  readonly soft: string | null;
}

/** Manual verdicts, The order of the verdict: the first rule that matches decides. */
const decide = (
  rules: RuleContext,
  node: Node,
  ownership: OwnerEvidence | null,
  { hard, soft }: Protection,
): Ruling => {
  const { context, isRelated } = rules;
  if (hard !== null) return rule('protected', hard);
  if (isZombie(node.facts)) return asItsParent(rules, node);
  // A recorded table may simply lack the column; on a live machine an owner we cannot read is a stranger's.
  if (node.facts.unreadable || isUntold(node, context))
    return { ...rule('unknown', 'its state or owner cannot be read'), unread: true };
  const agent = agentAbove(node);
  if (agent !== null) return belowAgent(rules, node, agent);
  const climb = context.climb(node);
  // An agent of an editor or an app: the list says what the plan will say.
  if (soft !== null && isRelated(node) && hostReason(node, context) !== null) return rule('protected', soft);
  if (climb.end === 'pane' || climb.end === 'anchor') return held(rules, node, climb);
  if (soft !== null) return rule('protected', soft);
  if (climb.end === 'orphan-root') return adopted(rules, node, ownership, climb.root);
  return unknownTop(rules, node, ownership, climb);
};

const asItsParent = ({ judge }: RuleContext, node: Node): Ruling => {
  if (node.parent === null) return rule('unknown', 'has ended; its parent is not in the table');
  const { verdict } = judge(node.parent);
  return rule(verdict, `has ended; ${nodeLabel(node.parent)} has not collected it`);
};

const belowAgent = ({ context, judge, abandoned }: RuleContext, node: Node, agent: Node): Ruling => {
  const above = `runs below ${nodeLabel(agent)}`;
  const { verdict, why, doubt } = judge(agent);
  if (verdict === 'leak' || verdict === 'suspect')
    return {
      ...rule(verdict, `${above}, which is ${verdict === 'leak' ? 'leaked' : 'suspect'}: ${why[0]}`),
      doubt,
    };
  const finished = context.finishedBecause(agent);
  if (finished !== null) return rule('suspect', finished, above);
  const found = abandoned(node);
  if (found === null) return rule('live', above);
  const { at, evidence } = found;
  return rule('suspect', at === node ? evidence : `goes with ${nodeLabel(at)}: ${evidence}`, above);
};

const held = ({ isRelated }: RuleContext, node: Node, climb: Climb & { end: 'pane' | 'anchor' }): Ruling => {
  const where =
    climb.end === 'anchor'
      ? `run by ${climb.at}`
      : climb.pane === null
        ? 'sits below a tmux server'
        : `sits in tmux pane ${climb.pane.session}:${climb.pane.pane}`;
  return isRelated(node) ? rule('live', where) : rule('unknown', `${where}; nothing connects it to an agent`);
};

const unknownTop = (
  rules: RuleContext,
  node: Node,
  ownership: OwnerEvidence | null,
  climb: Climb,
): Ruling => {
  const { isRelated, judge } = rules;
  const foreign = foreignTo(node, ownership);
  if (foreign?.fate === 'alive') return rule('live', foreign.why);
  if (climb.end === 'stranger' && isRelated(climb.at)) {
    const judged = judge(climb.at);
    if (judged.verdict === 'suspect' || (judged.verdict === 'leak' && !mayBeOwned(node, foreign)))
      return goesWith(climb.at, judged);
  }
  const top =
    climb.end === 'stranger'
      ? `its parent ${nodeLabel(climb.at)} is alive, and reaptop does not know what it is`
      : 'its parent is not in the table';
  return foreign === null || foreign.fate === 'undecided'
    ? rule('unknown', top)
    : rule('suspect', foreign.why, top);
};

const isUntold = ({ facts }: Node, { observation: { self } }: VerdictContext): boolean =>
  self !== null && userRelation(facts, self.uid) === 'untold';

/** Kinds of which one parent needs only one with the same words. */
const SERVERS: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'browser']);

const isServer = (node: Node): boolean => SERVERS.has(node.kind) || wrapsServer(node);

/** Workers that a server forked have its words, and there are several on purpose. */
const isWorkerOfItself = ({ facts, parent }: Node): boolean =>
  sameArgv(facts.argv, parent?.facts.argv ?? null);

const canBeDuplicate = (node: Node): boolean =>
  node.facts.details?.cwd != null &&
  (node.facts.argv?.length ?? 0) > 0 &&
  !isZombie(node.facts) &&
  isServer(node) &&
  !isWorkerOfItself(node);

const byAge = (a: Node, b: Node): number =>
  (a.facts.born ?? 0) - (b.facts.born ?? 0) || a.facts.pid - b.facts.pid;

/** What makes two servers the same: kind, command and directory. */
const serverKey = ({ kind, facts }: Node): string => JSON.stringify([kind, facts.argv, facts.details?.cwd]);

/** The newest of each server that a process runs, seen through the wrappers and shells in between. */
const newestServers = (carrier: Node): ReadonlyMap<string, Node> => {
  const newest = new Map<string, Node>();
  const isPassable = (below: Node): boolean =>
    below === carrier || CARRIES_OTHERS.has(below.parent!.kind) || below.parent === carrier;
  for (const below of subtreeOf(carrier, isPassable)) {
    if (below === carrier || !canBeDuplicate(below)) continue;
    const key = serverKey(below);
    const before = newest.get(key);
    if (before === undefined || byAge(before, below) < 0) newest.set(key, below);
  }
  return newest;
};

/** The same server that runs again for the same process, and is newer: that one is in use. Null: there is none. */
const newerDuplicates = (servesOne: (agent: Node) => boolean): ((node: Node) => Node | null) => {
  const known = new Map<Node, ReadonlyMap<string, Node>>();
  return node => {
    if (!canBeDuplicate(node)) return null;
    const carrier = carrierOf(node);
    // What serves several sessions runs one server for each of them.
    if (carrier === null || !servesOne(carrier)) return null;
    const servers = known.get(carrier) ?? newestServers(carrier);
    known.set(carrier, servers);
    const newest = servers.get(serverKey(node));
    return newest === undefined || newest === node ? null : newest;
  };
};

/** Whatever talks over its standard input. Shells, builds and agents read it once, or not at all: an ended writer means nothing. */
const TALKS_OVER_STDIN: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'browser', 'other']);

const talksOverStdin = (node: Node): boolean =>
  TALKS_OVER_STDIN.has(node.kind) || (node.kind === 'wrapper' && isServer(node));

/** Where in the line up to its agent something is no longer used. */
export interface Abandoned {
  readonly at: Node;
  readonly evidence: string;
}

/** Evidence that a process below a live agent, or one between the two, is no longer used; null when there is none. */
export const abandonedAt = (servesOne: (agent: Node) => boolean): ((node: Node) => Abandoned | null) => {
  const newerOf = newerDuplicates(servesOne);
  const evidenceOf = (node: Node): string | null => {
    const newer = newerOf(node);
    if (newer !== null) return `the same server runs again as ${newer.facts.pid}, which is newer`;
    return talksOverStdin(node) && node.facts.details?.stdin === 'abandoned-pipe'
      ? 'the other end of its standard input is closed'
      : null;
  };
  return fromAbove<Node, Abandoned | null>((node, above) => {
    const evidence = evidenceOf(node);
    if (evidence !== null) return { at: node, evidence };
    // An agent is judged by itself.
    return node.parent === null || isRunningAgent(node.parent) ? null : (above ?? null);
  });
};
