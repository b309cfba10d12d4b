import { fromAbove, type Linking, linkForest } from '../../model/forest.ts';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { Kind, Recognition } from '../../model/kind.ts';
import type { Sample } from '../../model/observation.ts';
import { isZombie, type ProcessFacts, sameArgv } from '../../model/process.ts';
import { nameAndPid } from '../../model/snapshot.ts';
import { withShortened } from '../recognise/shortened.ts';

/** A process in its family: the unit that judging works on. Mutable only until the tree is handed to a judge. */
export interface Node {
  /** Gains environment and details once they were asked for. */
  facts: ProcessFacts;
  readonly seen: Recognition;
  /** What it is in its surroundings; starts as `seen.kind`. */
  kind: Kind;
  agent: string | null;
  readonly parent: Node | null;
  readonly children: Node[];
}

export interface Tree {
  readonly nodes: readonly Node[];
  readonly byPid: ReadonlyMap<number, Node>;
}

type Recognise = (facts: ProcessFacts) => Recognition;

interface Growing extends Omit<Node, 'parent'>, Linking<Node> {}

/** Links every process to its parent and settles the kinds that only the surroundings can tell. */
export const growTree = (look: Sample, recognise: Recognise): Tree => {
  const read = look.host.backend === 'recorded' ? withShortened(look.processes, recognise) : recognise;
  const nodes = look.processes.map((facts): Growing => {
    const seen = read(facts);
    return { facts, seen, kind: seen.kind, agent: seen.agent, parent: null, children: [] };
  });
  // A parent is never younger, adopters included. One that is has the pid of the real one, which ended between two
  // reads of a sliced table. Other backends round start times, and prove nothing.
  const exact = look.host.backend === 'procfs';
  const byPid = linkForest(
    nodes,
    node => node.facts,
    (parent, node) => !exact || !startedAfter(parent, node),
  );
  for (const node of nodes) settleKind(node, look.clock);
  return { nodes, byPid };
};

export const CARRIES_OTHERS: ReadonlySet<Kind> = new Set(['wrapper', 'shell']);

/**
 * The nearest ancestor that is wanted. A plain loop over the first steps, which are all there are but in a forged or
 * runaway tree (0.1 ms for 5,000 processes instead of 0.3 with a generator); beyond them each node is asked once.
 */
const nearest = (isWanted: (node: Node) => boolean): ((node: Node) => Node | null) => {
  const far = fromAbove<Node, Node | null>((node, above) => (isWanted(node) ? node : (above ?? null)));
  return node => {
    let up = node.parent;
    for (let step = 0; up !== null && step < NEAR; up = up.parent, step += 1) if (isWanted(up)) return up;
    return up === null ? null : far(up);
  };
};
const NEAR = 32;

/** The nearest ancestor that is neither wrapper nor shell. */
export const carrierOf = nearest(node => !CARRIES_OTHERS.has(node.kind));

/** The same while kinds are still being settled. */
const carrierSoFar = (node: Node): Node | null => {
  let up = node.parent;
  while (up !== null && CARRIES_OTHERS.has(up.kind)) up = up.parent;
  return up;
};

const settleKind = (node: Growing, clock: number): void => {
  if (node.kind === 'agent' && node.parent !== null && isForkOf(node, node.parent, clock)) {
    node.kind = 'other';
    node.agent = null;
  } else if (node.kind === 'agent' && isLauncherOfSameAgent(node, clock)) {
    node.kind = 'wrapper';
    node.agent = null;
  } else if (
    node.kind === 'other' &&
    node.parent?.seen.kind === 'browser' &&
    node.facts.comm === node.parent.facts.comm
  ) {
    node.kind = 'browser'; // renderers and utility processes of a browser an agent drives
  } else if (
    node.kind === 'other' &&
    node.seen.mentionsMcp &&
    node.seen.transport !== 'http' &&
    carrierSoFar(node)?.kind === 'agent'
  ) {
    node.kind = 'mcp';
  }
};

/** codex, gemini and opencode come as a pair: a script that starts the real program with the same arguments. */
const isLauncherOfSameAgent = (node: Node, clock: number): boolean =>
  node.children.some(
    child =>
      child.seen.agent === node.agent &&
      child.seen.agent !== null &&
      !isZombie(child.facts) &&
      !isForkOf(child, node, clock) &&
      sameArguments(node, child),
  );

/** Between fork and exec a child still has all of its parent's words: it is no second agent. */
const FORK_SECONDS = 1;

const isForkOf = (child: Node, parent: Node, clock: number): boolean =>
  child.facts.born !== null &&
  clock - child.facts.born < FORK_SECONDS &&
  sameArgv(child.facts.argv, parent.facts.argv);

const argumentsAfterProgram = (node: Node): readonly string[] => {
  const argv = node.facts.argv ?? [];
  const name = node.seen.agent ?? '';
  const named = argv.findIndex(word => word.slice(word.lastIndexOf('/') + 1).includes(name));
  // Qwen's own processes run `…/node_modules/@qwen-code/qwen-code/cli.js`.
  const program =
    named === -1 ? argv.findIndex((word, at) => at > 0 && word.includes('/node_modules/')) : named;
  return argv.slice(program + 1);
};

const sameArguments = (a: Node, b: Node): boolean =>
  sameArgv(argumentsAfterProgram(a), argumentsAfterProgram(b));

/** The very process that is meant, not another with its pid. */
export const nodeWithKey = (tree: Tree, key: IdentityKey): Node | null => {
  const node = tree.byPid.get(Number.parseInt(key, 10));
  return node !== undefined && keyOf(node.facts) === key ? node : null;
};

/** An agent that can still own something: it has not ended. */
export const isRunningAgent = (node: Node): boolean => node.kind === 'agent' && !isZombie(node.facts);

/** The agent that a process runs below. */
export const agentAbove = nearest(isRunningAgent);

/** How a sentence names a process: `claude (4711)`. */
export const nodeLabel = (node: Pick<Node, 'seen' | 'facts'>): string =>
  nameAndPid(node.seen.name, node.facts.pid);

/** Did `a` surely start after `b`? Unknown ages give no evidence, so the answer is no. */
export const startedAfter = (a: Pick<Node, 'facts'>, b: Pick<Node, 'facts'>): boolean =>
  a.facts.born !== null && b.facts.born !== null && a.facts.born > b.facts.born;
