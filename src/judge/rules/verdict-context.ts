import { isSessionless, servesSeveral } from '../../agents/families.ts';
import type { Config } from '../../model/config.ts';
import { ancestorsOf } from '../../model/forest.ts';
import type { ClaudeSession, ClaudeWorker, Observation, StrangeFile } from '../../model/observation.ts';
import { isZombie, type ProcessFacts } from '../../model/process.ts';
import type { Doubt } from '../../model/snapshot.ts';
import { type AgentRecords, agentRecords, lacksStart } from './agent-records.ts';
import { anchorOf, type Climb, climber, endedLeadOf } from './climb.ts';
import { serviceReason } from './declared-services.ts';
import { pidsNamedBy, sessionsNamedBy, wasStartedByAgent } from './environment-marks.ts';
import { doubtsOf, worksThrough } from './in-use.ts';
import { Lineage } from './lineage.ts';
import { panesOf } from './tmux-pane.ts';
import { isRunningAgent, type Node, type Tree } from './tree.ts';

/** Everything the rules may ask about one moment. Built once per judgement, never changed by a rule. */
export interface VerdictContext extends AgentRecords {
  readonly observation: Observation;
  readonly config: Config;
  readonly tree: Tree;
  readonly lineage: Lineage;
  /** Running agents, oldest first. */
  readonly agents: readonly Node[];
  /**
   * Running processes that we do not recognise as agents and that may be owners all the same: Claude lists them as
   * sessions, whatever they are called, or their words are an agent's, and so are those of a child.
   */
  readonly unlikelyOwners: readonly Node[];
  /** Terminals, editors and tmux servers that an agent's shell opened: what is started in them has its environment. */
  readonly openedByAgents: readonly Node[];
  /** reaptop's own ancestors. */
  readonly ownAncestors: ReadonlySet<Node>;
  readonly climb: (node: Node) => Climb;
  /** What speaks against ending a subtree of which a proof says that it is leaked; null when nothing does. */
  readonly doubt: (node: Node) => Doubt | null;
  /** What below an agent uses the CPU for it; null when nothing does. */
  readonly worksThrough: (agent: Node) => Node | null;
  /** What runs at a pid, whether it concerns an agent or not. */
  readonly processAt: (pid: number) => ProcessFacts | undefined;
  /** An agent that has a session: supervisors, shared daemons and dashboards have none. */
  readonly isSession: (node: Node) => boolean;
  /** An agent with one session and no running subagents: the same server twice below it is one too many. */
  readonly servesOne: (node: Node) => boolean;
  readonly continued: Continued;
  /** Files of running Claudes that we do not understand: whose session has ended is then a guess. */
  readonly strangeFiles: readonly string[];
}

export interface VerdictInput {
  readonly observation: Observation;
  readonly tree: Tree;
  readonly config: Config;
  readonly lineage?: Lineage | undefined;
}

export const verdictContext = ({
  observation,
  tree,
  config,
  lineage = new Lineage(),
}: VerdictInput): VerdictContext => {
  const agents = tree.nodes.filter(isRunningAgent).sort((a, b) => (a.facts.born ?? 0) - (b.facts.born ?? 0));
  const self = observation.self === null ? undefined : tree.byPid.get(observation.self.pid);
  const processAt = indexByPid(observation.processes);
  const climb = climber(
    panesOf(observation.tmux),
    node => serviceReason(node, observation.self),
    server => endedLeadOf(server, observation, processAt),
  );
  const records = agentRecords(observation, climb);
  const { sessionOf } = records;
  return {
    observation,
    config,
    tree,
    lineage,
    agents,
    unlikelyOwners: tree.nodes.filter(
      node =>
        !isZombie(node.facts) &&
        !isRunningAgent(node) &&
        (node.seen.agent !== null || sessionOf(node) !== null),
    ),
    openedByAgents: tree.nodes.filter(node => mayBeOpenedByAgent(node, observation, climb)),
    ownAncestors: new Set(self === undefined ? [] : ancestorsOf(self)),
    climb,
    doubt: doubtsOf(observation, records, climb),
    worksThrough: worksThrough(observation),
    processAt,
    ...records,
    isSession: node =>
      isRunningAgent(node) && (!isSessionless(node.seen.role) || isClaimed(node, sessionOf(node))),
    servesOne: node => isRunningAgent(node) && !servesSeveral(node.seen) && records.hasNoSubagents(node),
    strangeFiles: strangeFilesOf(observation, agents),
    continued: continuedSessions(tree, agents, observation.workers, sessionOf),
  };
};

/** Made when first needed: most samples name no pid. */
const indexByPid = (processes: readonly ProcessFacts[]): VerdictContext['processAt'] => {
  let index: Map<number, ProcessFacts> | null = null;
  return pid => {
    index ??= new Map(processes.map(facts => [facts.pid, facts]));
    return index.get(pid);
  };
};

/** Only an orphan's environment may come from a shell that has ended; the others have it from their parent. */
const mayBeOpenedByAgent = (node: Node, { self }: Observation, climb: (node: Node) => Climb): boolean => {
  const anchor = anchorOf(node);
  const hosts = node.seen.role === 'tmux-server' || anchor === 'terminal' || anchor === 'editor';
  if (!hosts || isZombie(node.facts)) return false;
  const end = climb(node);
  // Below a tmux server that does not answer, whether it is in a pane is unknown.
  if (end.end !== 'orphan-root' && !(end.end === 'pane' && end.pane === null)) return false;
  const { env, uid } = node.facts;
  return wasStartedByAgent(node) || (env === null && (uid === null || uid === self?.uid));
};

export const ageOf = (facts: ProcessFacts, observation: { readonly clock: number }): number | null =>
  facts.born === null ? null : Math.max(0, observation.clock - facts.born);

/** Unreaped children this process owes a wait. */
export const zombiesOf = (node: Node): Node[] => node.children.filter(child => isZombie(child.facts));

export const sessionIdOf = (context: VerdictContext, agent: Node): string | null =>
  context.sessionOf(agent)?.sessionId ?? agent.seen.sessionIds[0] ?? null;

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

/** A spare that was claimed is a session, although its argv still calls it a spare. */
const isClaimed = ({ seen }: Node, session: ClaudeSession | null): boolean =>
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

/** Does a file speak of one of these agents? A roster speaks of all background sessions. */
const concerns = ({ pid }: StrangeFile, claudes: readonly Node[]): boolean =>
  claudes.some(({ facts, seen }) => (pid === null ? seen.role === 'claude-daemon' : facts.pid === pid));

/** Files of running Claudes that say something in a form unknown to us: which sessions those are is then unknown, too. */
export const strangeFilesOf = (observation: Observation, agents: readonly Node[]): readonly string[] => {
  const files = [
    ...observation.strange,
    ...observation.sessions.filter(session => lacksStart(session, observation)),
  ];
  const claudes = agents.filter(({ agent }) => agent === 'claude');
  return files.filter(file => concerns(file, claudes)).map(({ path }) => path);
};

/** One warning, however many there are. */
export const strangeWarning = ([first, ...more]: readonly string[]): string[] =>
  first === undefined
    ? []
    : [
        `${first}${more.length === 0 ? '' : ` and ${more.length} more`}: written by a version of Claude that reaptop does not know; what Claude left running is called suspect at most.`,
      ];
