import { pushTo } from '../../model/forest.ts';
import type { Reading } from '../../model/heartbeat.ts';
import type { ClaudeSession, Observation } from '../../model/observation.ts';
import { type ProcessFacts, pidForItself } from '../../model/process.ts';
import { type Climb, paneOf } from './climb.ts';
import { type Node, nodeLabel } from './tree.ts';

/** What agents and orchestrators have written about a running agent. */
export interface AgentRecords {
  /** The session file that speaks of this very process (pid and start time agree). */
  readonly sessionOf: (node: Node) => ClaudeSession | null;
  /** It has a session file without a status, or one in a format that we do not know: it may be busy. */
  readonly hasUnclearStatus: (agent: Node) => boolean;
  /** What is known of the transcript of an agent's session. */
  readonly transcriptOf: (agent: Node) => Reading | null;
  /** When an agent's session file, transcript or stream last said something new; epoch milliseconds. */
  readonly lastSignOf: (agent: Node) => number | null;
  /** No subagent of it has written anything lately; false where that is not known. */
  readonly hasNoSubagents: (agent: Node) => boolean;
  /** Why an agent's own records call its work finished; null when they do not. */
  readonly finishedBecause: (agent: Node) => string | null;
}

export const agentRecords = (observation: Observation, climb: (node: Node) => Climb): AgentRecords => {
  const sessionOf = sessionsByProcess(observation);
  const idOf = (agent: Node): string | undefined => sessionOf(agent)?.sessionId ?? agent.seen.sessionIds[0];
  let transcripts: Transcripts | null = null;
  const transcriptOf = (agent: Node): Reading | null => {
    transcripts ??= transcriptsIn(observation);
    const id = idOf(agent);
    const named = id === undefined ? undefined : transcripts.bySession.get(id);
    return named ?? transcripts.byPid.get(agent.facts.pid) ?? null;
  };
  const streams = observation.readings.filter(({ format }) => format === 'stream-log');
  /** An orchestrator runs each agent in a tmux session of its name; a result names the session it ends. */
  const streamsOf = (agent: Node): readonly Reading[] => {
    if (streams.length === 0) return streams;
    const tmux = paneOf(climb(agent))?.session;
    const id = idOf(agent);
    return streams.filter(
      ({ agentId, sessionId }) =>
        (agentId !== null && tmux === `agent_${agentId}`) || (id !== undefined && sessionId === id),
    );
  };
  return {
    sessionOf,
    hasUnclearStatus: agent => {
      const session = sessionOf(agent);
      if (session !== null) return session.status === null;
      const { pid } = agent.facts;
      return (
        observation.strange.some(file => file.pid === pid) ||
        observation.sessions.some(file => file.pid === pid && lacksStart(file, observation))
      );
    },
    transcriptOf,
    lastSignOf: agent => {
      const signs = [
        sessionOf(agent)?.statusUpdatedAt ?? null,
        transcriptOf(agent)?.mtime ?? null,
        ...streamsOf(agent).map(({ mtime }) => mtime),
      ].filter(sign => sign !== null);
      return signs.length === 0 ? null : Math.max(...signs);
    },
    hasNoSubagents: agent => {
      if (agent.agent !== 'claude') return true;
      const transcript = transcriptOf(agent);
      if (transcript === null) return false;
      const at = transcript.subagentAt;
      return at === null || observation.takenAt - at > SUBAGENT_MS;
    },
    finishedBecause: agent => {
      const status = sessionOf(agent)?.status ?? null;
      if (status !== null && FINISHED.has(status))
        return `the session file of ${nodeLabel(agent)} says ${status}`;
      const log = streamsOf(agent).find(({ terminal }) => terminal);
      return log === undefined ? null : `the stream log ${log.path} ends with a result`;
    },
  };
};

/**
 * The session file that speaks of a process. Several may bear its number: in every configuration directory what a
 * killed session left lies about, and numbers come round again.
 */
export const sessionsByProcess = (
  observation: Observation,
): ((process: Pick<Node, 'facts'>) => ClaudeSession | null) => {
  const sessions = new Map<number, ClaudeSession[]>();
  for (const session of observation.sessions) pushTo(sessions, session.pid, session);
  return ({ facts }) =>
    sessions.get(pidForItself(facts))?.find(session => speaksOf(session, facts, observation)) ?? null;
};

/** It cannot be distinguished from a file of a later process with the same pid; only Linux lets us compare start times. */
export const lacksStart = (session: ClaudeSession, { host }: Pick<Observation, 'host'>): boolean =>
  session.procStart === null && host.backend === 'procfs';

interface Transcripts {
  readonly bySession: ReadonlyMap<string, Reading>;
  /** Those that name no session were found by the process that writes to them, in this very look. */
  readonly byPid: ReadonlyMap<number, Reading>;
}

const transcriptsIn = ({ readings }: Observation): Transcripts => {
  const bySession = new Map<string, Reading>();
  const byPid = new Map<number, Reading>();
  for (const reading of readings) {
    if (reading.format !== 'transcript') continue;
    if (reading.sessionId !== null) bySession.set(reading.sessionId, reading);
    else if (reading.pid !== null) byPid.set(reading.pid, reading);
  }
  return { bySession, byPid };
};

/** A subagent that has written nothing for this long has ended. */
const SUBAGENT_MS = 10 * 60 * 1000;

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
