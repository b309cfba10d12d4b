import { formatOf } from '../../agents/files/formats.ts';
import { pushTo } from '../../model/forest.ts';
import type { Reading } from '../../model/heartbeat.ts';
import type { ClaudeSession } from '../../model/observation.ts';
import { directoryOf } from '../../model/path.ts';
import { pidForItself } from '../../model/process.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';

/** A file and the agents it may speak of. */
export interface JoinedReading {
  readonly reading: Reading;
  readonly ageSeconds: number | null;
  /** The agent it most likely speaks of. */
  readonly agent: JudgedProcess | null;
  /** Every agent it could speak of: several sessions in one project cannot be distinguished by a path. */
  readonly candidates: readonly JudgedProcess[];
  readonly how: 'pid' | 'session' | 'environ' | 'tmux' | 'path' | null;
}

export interface JoinInput {
  readonly readings: readonly Reading[];
  readonly processes: readonly JudgedProcess[];
  readonly sessions: readonly ClaudeSession[];
  readonly now: number;
}

/** The project a file belongs to: the directory in which `specs`, `.claude` or the workspace lies. */
export const projectOfReading = (reading: Reading): string => {
  const { projectFrom } = formatOf(reading);
  if (projectFrom === 'root') return reading.root;
  if (projectFrom === 'content' && reading.cwd !== null) return reading.cwd;
  const inner = /^(.*?)\/(?:specs|\.claude|\.agent-workspace|workspaces)\//.exec(reading.path);
  return inner?.[1] ?? directoryOf(reading.path);
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
      const own = recorded.get(`${pidForItself(agent.facts)}:${agent.facts.start}`);
      return [agent, new Set(own === undefined ? agent.seen.sessionIds : [own, ...agent.seen.sessionIds])];
    }),
  );
};

/** The agents that a file can be tied to, by each thing a file may name. */
const indexAgents = ({ processes, sessions }: JoinInput) => {
  const agents = processes.filter(p => p.isSession);
  const byPid = new Map<number, JudgedProcess[]>();
  const bySession = new Map<string, JudgedProcess[]>();
  const byTmux = new Map<string, JudgedProcess[]>();
  for (const agent of agents) {
    pushTo(byPid, agent.facts.pid, agent);
    if (agent.tmux !== null) pushTo(byTmux, agent.tmux.session, agent);
  }
  for (const [agent, ids] of sessionIdsByAgent(agents, sessions))
    for (const id of ids) pushTo(bySession, id, agent);
  /** A child of the agent carries the session's id even when the agent's own record is missing. */
  const byEnviron = new Map<string, Set<JudgedProcess>>();
  for (const { facts, owner } of processes) {
    const id = facts.env?.CLAUDE_CODE_SESSION_ID;
    if (id === undefined || owner?.alive !== true || owner.pid === null) continue;
    const found = byEnviron.get(id) ?? new Set();
    for (const agent of byPid.get(owner.pid) ?? []) if (agent.facts.start === owner.start) found.add(agent);
    byEnviron.set(id, found);
  }
  const byProject = new Map<string, readonly JudgedProcess[]>();
  const inProject = (project: string): readonly JudgedProcess[] => {
    const known =
      byProject.get(project) ?? agents.filter(agent => isWithin(agent.facts.details?.cwd, project));
    byProject.set(project, known);
    return known;
  };
  return { byPid, bySession, byEnviron, byTmux, inProject };
};

const tmuxSessionOf = (r: Reading): string | null =>
  r.tmuxSession ?? (r.agentId === null ? null : `agent_${r.agentId}`);

/** Ties every file to the agents it may speak of: by pid, session id, environment, tmux session, or place. */
export const joinReadings = (input: JoinInput): JoinedReading[] => {
  const agents = indexAgents(input);
  const under = <K>(map: ReadonlyMap<K, Iterable<JudgedProcess>>, key: K | null): readonly JudgedProcess[] =>
    key === null ? [] : [...(map.get(key) ?? [])];
  const byPath = (r: Reading, age: number | null): readonly JudgedProcess[] =>
    formatOf(r).belongsTo === 'agent-in-name'
      ? []
      : agents.inProject(projectOfReading(r)).filter(agent => couldHaveWritten(agent, age));

  const ways = [
    ['pid', (r: Reading) => under(agents.byPid, r.pid)],
    ['session', (r: Reading) => under(agents.bySession, r.sessionId)],
    ['environ', (r: Reading) => under(agents.byEnviron, r.sessionId)],
    ['tmux', (r: Reading) => under(agents.byTmux, tmuxSessionOf(r))],
    ['path', byPath],
  ] as const;
  return input.readings.map(reading => {
    const ageSeconds = ageOfReading(reading, input.now);
    for (const [how, find] of ways) {
      const candidates = find(reading, ageSeconds);
      if (candidates.length > 0) return { reading, ageSeconds, candidates, agent: youngest(candidates), how };
    }
    return { reading, ageSeconds, candidates: [], agent: null, how: null };
  });
};

/** Of several that could have written it, the one started last before it: older sessions are more often idle. */
export const youngest = (agents: readonly JudgedProcess[]): JudgedProcess | null =>
  agents.reduce<JudgedProcess | null>(
    (best, agent) =>
      best === null || (agent.ageSeconds ?? Infinity) < (best.ageSeconds ?? Infinity) ? agent : best,
    null,
  );

/** File systems and clocks differ by a little; what lies further ahead is no time at all. */
const TOLERANCE_MS = 2000;

const past = (time: number | null, now: number): number | null =>
  time === null || time > now + TOLERANCE_MS ? null : Math.min(time, now);

/** When the file last gave a sign of life: the newer of its mtime and the time it states. Future times are ignored. */
export const lastSign = (reading: Reading, now: number): number | null => {
  const written = reading.foreignWrite ? null : past(reading.mtime, now);
  const stated = past(reading.updatedAt, now);
  if (written === null) return stated;
  return stated === null ? written : Math.max(written, stated);
};

/**
 * Seconds since the last sign of life. A marker is as old as what it marks: its stated time of
 * creation counts, not a later edit.
 */
export const ageOfReading = (reading: Reading, now: number): number | null => {
  const since =
    formatOf(reading).ageFrom === 'creation'
      ? (past(reading.createdAt, now) ?? past(reading.mtime, now))
      : lastSign(reading, now);
  return since === null ? null : (now - since) / 1000;
};
