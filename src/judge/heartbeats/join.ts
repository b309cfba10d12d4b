import type { Reading } from '../../model/heartbeat.ts';
import { isZombie } from '../../model/process.ts';
import type { ClaudeSession, JudgedProcess } from '../../model/snapshot.ts';
import { ageOfReading } from './age.ts';

/** A file and the agents it may speak of. */
export interface JoinedReading {
  readonly reading: Reading;
  readonly ageSeconds: number | null;
  /** The agent it most likely speaks of. */
  readonly agent: JudgedProcess | null;
  /** Every agent it could speak of: several sessions in one project cannot be told apart by a path. */
  readonly candidates: readonly JudgedProcess[];
  readonly how: 'pid' | 'session' | 'environ' | 'tmux' | 'path' | null;
}

export interface JoinInput {
  readonly readings: readonly Reading[];
  readonly processes: readonly JudgedProcess[];
  readonly sessions: readonly ClaudeSession[];
  readonly now: number;
}

/** Formats that an orchestrator keeps per agent: the agent is named, so a path must not guess another. */
const NAMED = new Set(['progress-log', 'findings-log', 'stream-log', 'prompt', 'deploy-log']);

/** The project a file belongs to: the directory in which `specs`, `.claude` or the workspace lies. */
export const projectOf = (reading: Reading): string => {
  if (reading.format === 'user') return reading.root;
  if (reading.format === 'registry' && reading.cwd !== null) return reading.cwd;
  const inner = /^(.*?)\/(?:specs|\.claude|\.agent-workspace|workspaces)\//.exec(reading.path);
  return inner?.[1] ?? reading.path.slice(0, reading.path.lastIndexOf('/'));
};

const isWithin = (path: string | null | undefined, directory: string): boolean =>
  path === directory || (typeof path === 'string' && path.startsWith(`${directory}/`));

/** An agent that started after the file's last sign of life cannot have given it. */
const couldHaveWritten = (agent: JudgedProcess, ageSeconds: number | null): boolean =>
  ageSeconds === null || agent.ageSeconds === null || agent.ageSeconds >= ageSeconds - 5;

const sessionIdsByAgent = (agents: readonly JudgedProcess[], sessions: readonly ClaudeSession[]) => {
  const recorded = new Map(
    sessions.map(session => [`${session.pid}:${session.procStart}`, session.sessionId]),
  );
  return new Map(
    agents.map(agent => {
      const own = recorded.get(`${agent.facts.pid}:${agent.facts.start}`);
      return [agent, new Set(own === undefined ? agent.seen.sessionIds : [own, ...agent.seen.sessionIds])];
    }),
  );
};

/** Ties every file to the agents it may speak of: by pid, session id, environment, tmux session, or place. */
export const joinReadings = ({ readings, processes, sessions, now }: JoinInput): JoinedReading[] => {
  const agents = processes.filter(
    p => p.kind === 'agent' && !isZombie(p.facts) && p.seen.role !== 'claude-daemon',
  );
  const ids = sessionIdsByAgent(agents, sessions);

  const byPid = (r: Reading): JudgedProcess[] => agents.filter(a => r.pid !== null && a.facts.pid === r.pid);
  const bySession = (r: Reading): JudgedProcess[] =>
    r.sessionId === null ? [] : agents.filter(a => ids.get(a)?.has(r.sessionId as string) === true);
  /** A child of the agent carries the session's id even when the agent's own record is missing. */
  const byEnviron = (r: Reading): JudgedProcess[] => {
    if (r.sessionId === null) return [];
    const owners = processes
      .filter(p => p.facts.env?.CLAUDE_CODE_SESSION_ID === r.sessionId && p.owner?.alive === true)
      .map(p => p.owner);
    return agents.filter(a => owners.some(o => o?.pid === a.facts.pid && o.start === a.facts.start));
  };
  const byTmux = (r: Reading): JudgedProcess[] => {
    const session = r.tmuxSession ?? (r.agentId === null ? null : `agent_${r.agentId}`);
    return session === null ? [] : agents.filter(a => a.tmux?.session === session);
  };
  const byPath = (r: Reading, age: number | null): JudgedProcess[] => {
    if (NAMED.has(r.format)) return [];
    const project = projectOf(r);
    return agents.filter(a => isWithin(a.facts.details?.cwd, project) && couldHaveWritten(a, age));
  };

  return readings.map(reading => {
    const ageSeconds = ageOfReading(reading, now);
    const ways = [
      ['pid', () => byPid(reading)],
      ['session', () => bySession(reading)],
      ['environ', () => byEnviron(reading)],
      ['tmux', () => byTmux(reading)],
      ['path', () => byPath(reading, ageSeconds)],
    ] as const;
    for (const [how, find] of ways) {
      const candidates = find();
      if (candidates.length > 0) return { reading, ageSeconds, candidates, agent: youngest(candidates), how };
    }
    return { reading, ageSeconds, candidates: [], agent: null, how: null };
  });
};

/** Of several that could have written it, the one started last before it: older sessions are more often idle. */
const youngest = (agents: readonly JudgedProcess[]): JudgedProcess | null =>
  agents.reduce<JudgedProcess | null>(
    (best, agent) =>
      best === null || (agent.ageSeconds ?? Infinity) < (best.ageSeconds ?? Infinity) ? agent : best,
    null,
  );
