import { isSessionless, servesSeveral } from '../../agents/index.ts';
import type { Config } from '../../model/config.ts';
import { ancestorsOf } from '../../model/forest.ts';
import type { Observation } from '../../model/observation.ts';
import { isZombie, type ProcessFacts } from '../../model/process.ts';
import type { Doubt } from '../../model/snapshot.ts';
import { type AgentRecords, agentRecords } from './agent-records.ts';
import type { Climb } from './climb.ts';
import { anchorOf, climber, endedLeadOf, panesOf } from './climb.ts';
import { type Continued, continuedSessions, isClaimed } from './continued.ts';
import { doubtsOf } from './doubts.ts';
import { Lineage } from './lineage.ts';
import { wasStartedByAgent } from './marks.ts';
import { serviceReason } from './outliving.ts';
import { strangeFilesOf } from './strange-files.ts';
import { isRunningAgent, type Node, type Tree } from './tree.ts';

/** Everything the rules may ask about one moment. Built once per judgement, never changed by a rule. */
export interface World extends AgentRecords {
  readonly observation: Observation;
  readonly config: Config;
  readonly tree: Tree;
  readonly lineage: Lineage;
  /** Running agents, oldest first. */
  readonly agents: readonly Node[];
  /**
   * Running processes that are no agents to our eyes and may be somebody's owner all the same: Claude lists them as
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

export interface WorldInput {
  readonly observation: Observation;
  readonly tree: Tree;
  readonly config: Config;
  readonly lineage?: Lineage | undefined;
}

export const buildWorld = ({ observation, tree, config, lineage = new Lineage() }: WorldInput): World => {
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
    doubt: doubtsOf(observation, records),
    processAt,
    ...records,
    isSession: node =>
      isRunningAgent(node) && (!isSessionless(node.seen.role) || isClaimed(node, sessionOf(node))),
    servesOne: node => isRunningAgent(node) && !servesSeveral(node.seen) && records.hasNoSubagents(node),
    strangeFiles: strangeFilesOf(observation, agents),
    continued: continuedSessions(tree, agents, observation.workers, sessionOf),
  };
};

/** Made when first asked: most samples name nobody by pid. */
const indexByPid = (processes: readonly ProcessFacts[]): World['processAt'] => {
  let index: Map<number, ProcessFacts> | null = null;
  return pid => {
    index ??= new Map(processes.map(facts => [facts.pid, facts]));
    return index.get(pid);
  };
};

/** Only an orphan's environment may come from a shell that has ended; whoever else runs has it from its parent. */
const mayBeOpenedByAgent = (node: Node, { self }: Observation, climb: (node: Node) => Climb): boolean => {
  const anchor = anchorOf(node);
  const hosts = node.seen.role === 'tmux-server' || anchor === 'terminal' || anchor === 'editor';
  if (!hosts || isZombie(node.facts)) return false;
  if (climb(node).end !== 'orphan-root') return false;
  const { env, uid } = node.facts;
  return wasStartedByAgent(node) || (env === null && (uid === null || uid === self?.uid));
};

export const ageOf = (facts: ProcessFacts, observation: { readonly clock: number }): number | null =>
  facts.born === null ? null : Math.max(0, observation.clock - facts.born);

/** Unreaped children this process owes a wait. */
export const zombiesOf = (node: Node): Node[] => node.children.filter(child => isZombie(child.facts));

export const sessionIdOf = (world: World, agent: Node): string | null =>
  world.sessionOf(agent)?.sessionId ?? agent.seen.sessionIds[0] ?? null;
