import { DRIVING_DESCRIPTOR } from '../../agents/browsers.ts';
import { sessionLogOf } from '../../agents/session-logs.ts';
import { ancestorsOf, fromAbove, subtreeOf } from '../../model/forest.ts';
import { type Identity, type IdentityKey, keyOf } from '../../model/identity.ts';
import type { Kind } from '../../model/kind.ts';
import { isZombie } from '../../model/process.ts';
import { adopts, type Climb, climber, isSwarm } from './climb.ts';
import { wasStartedByAgent } from './environment-marks.ts';
import { isWork } from './in-use.ts';
import type { Lineage } from './lineage.ts';
import { panesOf } from './tmux-pane.ts';
import { agentAbove, isRunningAgent, type Node, nodeWithKey, type Tree } from './tree.ts';

/** Kinds that are an agent's business wherever they are found. */
const AGENT_BUSINESS: ReadonlySet<Kind> = new Set(['agent', 'mcp', 'lean-lsp', 'lake', 'lean', 'browser']);

/** `npx -y chroma-mcp` is a server's business before the server has started, too; a Bash tool's shell is a session's. */
const isAgentBusiness = ({ kind, seen }: Node): boolean =>
  AGENT_BUSINESS.has(kind === 'wrapper' ? (seen.wraps ?? kind) : kind) || seen.role === 'bash-tool';

/** Everything that concerns an agent: itself, what is or was below one, servers and builds, and the tmux panes around it. */
export const relatedNodes = (tree: Tree, lineage: Lineage): ReadonlySet<Node> => {
  const related = new Set<Node>();
  const below = new Set<Node>();
  // From the few entries to their nodes: the other way round every process would need its key made.
  const remembered = new Set<Node | null>();
  for (const key of lineage.entries().keys()) remembered.add(nodeWithKey(tree, key));
  for (const node of tree.nodes) {
    // A zombie matters only to a parent that should have waited; PID 1 merely reaps late.
    if (below.has(node) || isZombie(node.facts)) continue;
    if (!isAgentBusiness(node) && !wasStartedByAgent(node) && !remembered.has(node)) continue;
    for (const member of subtreeOf(node)) below.add(member);
    for (const above of around(node)) related.add(above);
  }
  for (const node of below) related.add(node);
  return related;
};

/** Everything up to the tmux server, when there is one above; else the wrappers directly around it. */
const around = (node: Node): Node[] => {
  const above = [...ancestorsOf(node)];
  const server = above.findIndex(up => up.seen.role === 'tmux-server');
  if (server >= 0) return above.slice(0, server + 1);
  // An interactive shell is the user's own; a wrapper belongs to what it carries.
  const end = above.findIndex(up => up.kind !== 'wrapper');
  return end < 0 ? above : above.slice(0, end);
};

/** Whose environment is worth reading: own-user processes whose climb ends at an orphan root or in a pane, and agents. */
export const environQuestions = (
  tree: Tree,
  uid: number | null,
  alreadyRead: (node: Node) => boolean,
): Node[] => {
  // tmux has not been asked yet, and need not be: every child of a server counts as a pane here.
  const climb = climber(panesOf([]), () => null);
  return tree.nodes.filter(node => {
    const { facts } = node;
    if (facts.kernelThread || facts.unreadable || facts.uid !== uid || alreadyRead(node)) return false;
    // PID 1 of a container may hand an agent's environment to everything.
    if (isRunningAgent(node) || facts.pid === 1) return true;
    if (agentAbove(node) !== null) return false;
    const { end } = climb(node);
    // Below an ordinary living process only what is an agent's business is asked: everybody else's children are not.
    return (
      end === 'orphan-root' ||
      end === 'pane' ||
      (end === 'stranger' && (AGENT_BUSINESS.has(node.kind) || node.kind === 'wrapper'))
    );
  });
};

export interface DetailQuestion extends Identity {
  readonly descriptors: boolean;
  readonly sockets: boolean;
  readonly ports?: boolean;
  readonly uses: boolean;
  readonly tree?: number;
  readonly work: boolean;
  readonly drivenBy?: number;
  readonly holds?: RegExp;
}

/** The files that tell what a session does, of our user's agents only: what others work on is their business. */
const wantedFiles = ({ kind, agent, facts }: Node, uid: number | null): { readonly holds?: RegExp } => {
  const held = kind === 'agent' && facts.uid === uid ? sessionLogOf(agent)?.held : null;
  return held == null ? {} : { holds: held.file };
};

/** What people would look for by its port. */
const LISTENERS: ReadonlySet<Kind> = new Set(['mcp', 'other', 'browser']);

/** Ends of a climb where what hangs below is live, whatever it serves. */
const HOLDS: ReadonlySet<Climb['end']> = new Set(['pane', 'anchor']);

/**
 * Costlier facts are read for related processes only, and those that decide about a leak where there may be one.
 * `closely`: of everything of our user, because a live agent is to be put to sleep.
 */
export const detailQuestions = (
  related: ReadonlySet<Node>,
  uid: number | null,
  closely = false,
): DetailQuestion[] => {
  const climb = climber(panesOf([]), () => null);
  const outermostAgent = fromAbove<Node, Node | null>(({ parent }, above) =>
    parent === null ? null : (above ?? (isRunningAgent(parent) ? parent : null)),
  );
  const topOf = fromAbove<Node, Node>((node, above) => (isTop(node) ? node : above!));
  // Panes are not known yet: what a tmux server holds without a terminal, or for a hidden team, may have no owner.
  const mayBeHeldByNobody = fromAbove<Node, boolean>(({ parent, facts }, above) =>
    parent?.seen.role === 'tmux-server' ? facts.tty === null || isSwarm(parent) : (above ?? false),
  );
  return [...related]
    .filter(node => !node.facts.kernelThread && node.facts.state !== 'Z')
    .map(node => {
      const agent = agentAbove(node);
      const below = agent !== null;
      // Below an agent without an anchor, others may still be served: it must not be ended meanwhile.
      const top = outermostAgent(node) ?? node;
      const held = HOLDS.has(climb(top).end) && !mayBeHeldByNobody(top);
      const sheltered = below && held && !closely;
      const mayLeak = (!held || closely) && node.kind !== 'tmux' && node.facts.uid === uid;
      return {
        pid: node.facts.pid,
        start: node.facts.start,
        descriptors:
          below || mayLeak || node.kind === 'agent' || node.kind === 'lake' || node.kind === 'wrapper',
        sockets: !sheltered && node.kind !== 'tmux',
        ...(sheltered && LISTENERS.has(node.kind) && node.facts.uid === uid ? { ports: true } : {}),
        uses: mayLeak,
        ...(mayLeak && node.parent !== null ? { tree: (held ? top : topOf(node)).facts.pid } : {}),
        work: mayLeak && (closely || isWork(node)),
        ...(mayLeak && node.seen.role === 'piped-browser' ? { drivenBy: DRIVING_DESCRIPTOR } : {}),
        ...wantedFiles(node, uid),
      };
    });
};

/** The topmost of an orphan's tree, below its adopter. */
const isTop = (node: Node): boolean => {
  const { parent } = node;
  return (
    parent === null || parent.facts.pid === 1 || parent.seen.role === 'tmux-server' || adopts(parent, node)
  );
};

export const keysOf = (nodes: Iterable<Node>): Set<IdentityKey> => {
  const keys = new Set<IdentityKey>();
  for (const node of nodes) keys.add(keyOf(node.facts));
  return keys;
};
