import { ancestorsOf } from '../../model/forest.ts';
import { belonging, isZombie } from '../../model/process.ts';
import { abandonment } from './abandonment.ts';
import { adopted } from './adopted.ts';
import type { Climb } from './climb.ts';
import { foreignTo, ownershipOf } from './owner.ts';
import type { Ownership } from './ownership.ts';
import { hardReason, softReason } from './protect.ts';
import { type Court, goesWith, type Ruling, rule } from './ruling.ts';
import { agentAbove, calls, type Node } from './tree.ts';
import type { World } from './world.ts';

export interface Judgement extends Ruling {
  readonly protection: 'hard' | 'soft' | null;
  readonly protectedBecause: string | null;
  readonly ownership: Ownership | null;
}

/** Judges processes of one world, each once. `isRelated` decides between "live" and "none of our business". */
export const judgeWith = (world: World, isRelated: (node: Node) => boolean): ((node: Node) => Judgement) => {
  const known = new Map<Node, Judgement>();
  const judge = (node: Node): Judgement => {
    const before = known.get(node);
    if (before !== undefined) return before;
    const hard = hardReason(node, world);
    const ownership = hard !== null && !isRelated(node) ? null : ownershipOf(node, world);
    const soft = hard === null ? softReason(node, world, below => ownershipOf(below, world)) : null;
    const judgement: Judgement = {
      protection: hard !== null ? 'hard' : soft !== null ? 'soft' : null,
      protectedBecause: hard ?? soft,
      ownership,
      // Last: V8 takes four times as long to add fields to a spread, and this is done for every process.
      ...decide(court, node, ownership, { hard, soft }),
    };
    known.set(node, judgement);
    return judgement;
  };
  const court: Court = { world, isRelated, judge };
  return judge;
};

interface Protection {
  readonly hard: string | null;
  readonly soft: string | null;
}

/** README, The order of the verdict: the first rule that matches decides. */
const decide = (
  court: Court,
  node: Node,
  ownership: Ownership | null,
  { hard, soft }: Protection,
): Ruling => {
  const { world } = court;
  if (hard !== null) return rule('protected', hard);
  if (isZombie(node.facts)) return asItsParent(court, node);
  // A recorded table may simply lack the column; on a live machine an owner we cannot read is a stranger's.
  if (node.facts.unreadable || isUntold(node, world))
    return { ...rule('unknown', 'its state or owner cannot be read'), unread: true };
  const agent = agentAbove(node);
  if (agent !== null) return belowAgent(court, node, agent);
  const climb = world.climb(node);
  if (climb.end === 'pane' || climb.end === 'anchor') return held(court, node, climb);
  if (soft !== null) return rule('protected', soft);
  if (climb.end === 'orphan-root') {
    const { proven } = node.facts;
    if (proven !== undefined && world.observation.self === null) return rule('leak', ...proven);
    return notBeyond(node, adopted(court, node, ownership, climb.root));
  }
  return unknownTop(court, node, ownership, climb);
};

/** What the machine itself did not call a leak is none by what is left of it in a recording. */
const notBeyond = ({ facts: { doubted } }: Node, ruling: Ruling): Ruling =>
  doubted === undefined || ruling.verdict !== 'leak'
    ? ruling
    : rule('suspect', doubted, ...ruling.why.filter(why => why !== doubted));

const asItsParent = ({ judge }: Court, node: Node): Ruling => {
  if (node.parent === null) return rule('unknown', 'has ended; its parent is not in the table');
  const { verdict } = judge(node.parent);
  return rule(verdict, `has ended and waits to be reaped by ${calls(node.parent)}`);
};

const belowAgent = ({ world, judge }: Court, node: Node, agent: Node): Ruling => {
  const above = `runs below ${calls(agent)}`;
  const { verdict, why, doubt } = judge(agent);
  if (verdict === 'leak' || verdict === 'suspect')
    return {
      ...rule(verdict, `${above}, which is ${verdict === 'leak' ? 'leaked' : 'suspect'}: ${why[0]}`),
      doubt,
    };
  const finished = world.finishedBecause(agent);
  if (finished !== null) return rule('suspect', finished, above);
  for (const at of upTo(node, agent)) {
    const evidence = abandonment(at, world.servesOne);
    if (evidence !== null)
      return rule('suspect', at === node ? evidence : `goes with ${calls(at)}: ${evidence}`, above);
  }
  return rule('live', above);
};

const held = ({ isRelated }: Court, node: Node, climb: Climb & { end: 'pane' | 'anchor' }): Ruling => {
  const where =
    climb.end === 'anchor'
      ? `started from ${climb.at}`
      : climb.pane === null
        ? 'sits below a tmux server'
        : `sits in tmux pane ${climb.pane.session}:${climb.pane.pane}`;
  return isRelated(node) ? rule('live', where) : rule('unknown', `${where}; nothing connects it to an agent`);
};

const unknownTop = (court: Court, node: Node, ownership: Ownership | null, climb: Climb): Ruling => {
  const { isRelated, judge } = court;
  const foreign = foreignTo(node, ownership);
  if (foreign?.fate === 'alive') return rule('live', foreign.why);
  if (climb.end === 'stranger' && isRelated(climb.at)) {
    const judged = judge(climb.at);
    if (judged.verdict === 'leak' || judged.verdict === 'suspect') return goesWith(climb.at, judged);
  }
  const top =
    climb.end === 'stranger'
      ? `its parent ${calls(climb.at)} is alive, and reaptop does not know what it is`
      : 'its parent is not in the table';
  return foreign === null || foreign.fate === 'undecided'
    ? rule('unknown', top)
    : rule('suspect', foreign.why, top);
};

/** The node and what is above it, below `top`. */
function* upTo(node: Node, top: Node): Generator<Node> {
  yield node;
  for (const up of ancestorsOf(node)) {
    if (up === top) return;
    yield up;
  }
}

const isUntold = ({ facts }: Node, { observation: { self } }: World): boolean =>
  self !== null && belonging(facts, self.uid) === 'untold';
