import { isSessionless } from '../../agents/index.ts';
import type { Config } from '../../model/config.ts';
import { ancestorsOf } from '../../model/forest.ts';
import type { Reading } from '../../model/heartbeat.ts';
import { isZombie, type ProcessFacts } from '../../model/process.ts';
import type { ClaudeSession, Observation } from '../../model/snapshot.ts';
import type { Climb } from './climb.ts';
import { climber, panesOf } from './climb.ts';
import { type Continued, continuedSessions, isClaimed } from './continued.ts';
import { Lineage } from './lineage.ts';
import { serviceReason } from './outliving.ts';
import { strangeFilesOf } from './strange-files.ts';
import { calls, isRunningAgent, type Node, type Tree } from './tree.ts';

/** Everything the rules may ask about one moment. Built once per judgement, never changed by a rule. */
export interface World {
  readonly observation: Observation;
  readonly config: Config;
  readonly tree: Tree;
  readonly lineage: Lineage;
  /** Running agents, oldest first. */
  readonly agents: readonly Node[];
  /** reaptop's own ancestors. */
  readonly ownAncestors: ReadonlySet<Node>;
  readonly climb: (node: Node) => Climb;
  /** The session file that speaks of this very process (pid and start time agree). */
  readonly sessionOf: (node: Node) => ClaudeSession | null;
  /** An agent that has a session: supervisors, shared daemons and dashboards have none. */
  readonly isSession: (node: Node) => boolean;
  /** What is known of the transcript of an agent's session. */
  readonly transcriptOf: (agent: Node) => Reading | null;
  readonly continued: Continued;
  /** Files of running Claudes that we do not understand: whose session has ended is then a guess. */
  readonly strangeFiles: readonly string[];
  /** When an agent's session file, transcript or stream last said something new; epoch milliseconds. */
  readonly lastSignOf: (agent: Node) => number | null;
  /** Why an agent's own records call its work finished; null when they do not. */
  readonly finishedBecause: (agent: Node) => string | null;
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
  const sessions = new Map(observation.sessions.map(session => [session.pid, session]));
  const sessionOf = (node: Node): ClaudeSession | null => {
    const session = sessions.get(node.facts.pid);
    return session !== undefined && speaksOf(session, node.facts, observation) ? session : null;
  };
  const climb = climber(panesOf(observation.tmux), node => serviceReason(node, observation.self));
  let bySession: Map<string, Reading> | null = null;
  const transcripts = (): Map<string, Reading> => {
    bySession ??= new Map(
      observation.readings.flatMap(reading =>
        reading.format === 'transcript' && reading.sessionId !== null ? [[reading.sessionId, reading]] : [],
      ),
    );
    return bySession;
  };
  /** An orchestrator runs each agent in a tmux session of its name; a result names the session it ends. */
  const speaksOfAgent = (reading: Reading, agent: Node): boolean => {
    const end = climb(agent);
    const tmux = end.end === 'pane' ? end.pane?.session : undefined;
    if (reading.agentId !== null && tmux === `agent_${reading.agentId}`) return true;
    const id = sessionOf(agent)?.sessionId ?? agent.seen.sessionIds[0];
    return id !== undefined && reading.sessionId === id;
  };
  const transcriptOf = (agent: Node): Reading | null => {
    const id = sessionOf(agent)?.sessionId ?? agent.seen.sessionIds[0];
    return id === undefined ? null : (transcripts().get(id) ?? null);
  };
  return {
    observation,
    config,
    tree,
    lineage,
    agents,
    ownAncestors: new Set(self === undefined ? [] : ancestorsOf(self)),
    climb,
    sessionOf,
    transcriptOf,
    lastSignOf: agent => {
      const streams = observation.readings.filter(
        reading => reading.format === 'stream-log' && speaksOfAgent(reading, agent),
      );
      const signs = [
        sessionOf(agent)?.statusUpdatedAt ?? null,
        transcriptOf(agent)?.mtime ?? null,
        ...streams.map(({ mtime }) => mtime),
      ].filter(sign => sign !== null);
      return signs.length === 0 ? null : Math.max(...signs);
    },
    isSession: node =>
      isRunningAgent(node) && (!isSessionless(node.seen.role) || isClaimed(node, sessionOf(node))),
    strangeFiles: strangeFilesOf(observation, agents),
    continued: continuedSessions(tree, agents, observation.workers, sessionOf),
    finishedBecause: agent => {
      const status = sessionOf(agent)?.status ?? null;
      if (status !== null && FINISHED.has(status))
        return `the session file of ${calls(agent)} says ${status}`;
      const log = observation.readings.find(
        reading => reading.format === 'stream-log' && reading.terminal && speaksOfAgent(reading, agent),
      );
      return log === undefined ? null : `the stream log ${log.path} ends with a result`;
    },
  };
};

/** What Claude writes when a session is over; any other word, known to us or not, means that it still runs. */
const FINISHED: ReadonlySet<string> = new Set([
  'done',
  'failed',
  'stopped',
  'finished',
  'completed',
  'exited',
]);

/** `procStart` is the kernel's start time, verbatim on Linux; elsewhere there is nothing to compare it with. */
const speaksOf = (session: ClaudeSession, facts: ProcessFacts, observation: Observation): boolean =>
  session.procStart === facts.start || (session.procStart === null && observation.host.backend !== 'procfs');

export const ageOf = (facts: ProcessFacts, observation: { readonly clock: number }): number | null =>
  facts.born === null ? null : Math.max(0, observation.clock - facts.born);

/** Unreaped children this process owes a wait. */
export const zombiesOf = (node: Node): Node[] => node.children.filter(child => isZombie(child.facts));

export const sessionIdOf = (world: World, agent: Node): string | null =>
  world.sessionOf(agent)?.sessionId ?? agent.seen.sessionIds[0] ?? null;
