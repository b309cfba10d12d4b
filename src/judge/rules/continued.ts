import type { ClaudeSession, ClaudeWorker } from '../../model/observation.ts';
import { isZombie } from '../../model/process.ts';
import { pidsNamedBy, sessionsNamedBy } from './marks.ts';
import type { Node, Tree } from './tree.ts';

/** What became of sessions whose own process has ended. */
export interface Continued {
  /** The running session that took over this one, with all that it had running, however late. */
  readonly adopterOf: (sessionId: string) => Node | null;
  /** The running session that took over what this process, which has ended, had running under whatever id. */
  readonly successorOf: (pid: number) => Node | null;
  /** The running session that listens on this socket, whatever its id is by now. */
  readonly listenerOn: (socket: string) => Node | null;
  /** A running session that goes on with this one's conversation; what that one left running it knows nothing of. */
  readonly resumedBy: (sessionId: string) => Node | null;
}

type SessionOf = (node: Node) => ClaudeSession | null;

/** The very process that a background session's record means; without a start time only an agent can be meant. */
const processOf = ({ processes }: ClaudeWorker, tree: Tree): Node | null => {
  for (const { pid, start } of processes) {
    const node = tree.byPid.get(pid);
    if (node === undefined || isZombie(node.facts)) continue;
    if (start === node.facts.start || (start === null && node.kind === 'agent')) return node;
  }
  return null;
};

/** A spare that was claimed is somebody's session, although its words still call it a spare. */
export const isClaimed = ({ seen }: Node, session: ClaudeSession | null): boolean =>
  seen.role === 'claude-daemon' && session !== null && !session.spare;

const outputsOf = (agents: readonly Node[], sessionOf: SessionOf): Map<string, Node> =>
  new Map(
    agents.flatMap(agent => (sessionOf(agent)?.adoptedOutputs ?? []).map(path => [path, agent] as const)),
  );

/**
 * `/clear` gave the session other ids while its shells ran on: a shell whose output the new session reads tells which
 * id, and which process, that session goes on for. Adds the ids to `adopters`.
 */
const successorsOf = (
  tree: Tree,
  adopters: Map<string, Node>,
  outputs: ReadonlyMap<string, Node>,
): ReadonlyMap<number, Node> => {
  const successors = new Map<number, Node>();
  if (adopters.size === 0 && outputs.size === 0) return successors;
  for (const node of tree.nodes) {
    if (node.facts.env === null) continue;
    const ids = sessionsNamedBy(node);
    const byOutput = outputs.get(node.facts.details?.output ?? '');
    const adopter = byOutput ?? ids.map(id => adopters.get(id)).find(found => found !== undefined);
    if (adopter === undefined || adopter === node) continue;
    for (const id of byOutput === undefined ? [] : ids) adopters.set(id, adopter);
    for (const pid of pidsNamedBy(node))
      if (tree.byPid.get(pid)?.kind !== 'agent') successors.set(pid, adopter);
  }
  return successors;
};

/** Moving a session to the background starts another one, by a fork or in a spare, that adopts what was running. */
export const continuedSessions = (
  tree: Tree,
  agents: readonly Node[],
  workers: readonly ClaudeWorker[],
  sessionOf: SessionOf,
): Continued => {
  const adopters = new Map<string, Node>();
  const listeners = new Map<string, Node>();
  const holders = new Map<string, Node>();
  for (const agent of agents) {
    const session = sessionOf(agent);
    for (const id of agent.seen.forkedFrom) adopters.set(id, agent);
    for (const id of agent.seen.sessionIds) holders.set(id, agent);
    if (session === null) continue;
    holders.set(session.sessionId, agent);
    if (isClaimed(agent, session)) adopters.set(session.sessionId, agent);
    if (session.socket !== null) listeners.set(session.socket, agent);
  }
  for (const worker of workers) {
    const node = worker.forkedFrom === null ? null : processOf(worker, tree);
    if (worker.forkedFrom !== null && node !== null) adopters.set(worker.forkedFrom, node);
  }
  const successors = successorsOf(tree, adopters, outputsOf(agents, sessionOf));
  return {
    successorOf: pid => successors.get(pid) ?? null,
    adopterOf: id => adopters.get(id) ?? null,
    listenerOn: socket => listeners.get(socket) ?? null,
    resumedBy: id => holders.get(id) ?? null,
  };
};
