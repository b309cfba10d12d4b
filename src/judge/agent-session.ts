import type { Reading } from '../model/heartbeat.ts';
import type { ClaudeSession, Observation, TmuxPane } from '../model/observation.ts';
import type { AgentSession } from '../model/snapshot.ts';
import type { Node } from './rules/tree.ts';

/** Written to within this time, a transcript or a pane belongs to an agent at work. */
const BUSY_SECONDS = 30;

/** What Claude's own words for a session's state mean to its user. */
const DOING: Readonly<Record<string, AgentSession['doing']>> = {
  busy: 'busy',
  shell: 'busy',
  working: 'busy',
  idle: 'idle',
  waiting: 'waiting',
  blocked: 'waiting',
};

export interface AgentSigns {
  readonly session: ClaudeSession | null;
  /** The id it was started with, where no registry tells. */
  readonly knownId: string | null;
  readonly transcript: Reading | null;
  readonly pane: TmuxPane | null;
  /** What works for it while it is silent itself: its build. */
  readonly worker?: Node | null;
}

/** Which session an agent is and what it is doing, by the best sign there is. Only its own record says that it waits. */
export const agentSession = (agent: Node, signs: AgentSigns, { takenAt }: Observation): AgentSession => {
  const { session, knownId, transcript, pane, worker = null } = signs;
  const cwd = session?.cwd ?? agent.facts.details?.cwd ?? null;
  const since = (at: number | null): number | null =>
    at === null ? null : Math.max(0, (takenAt - at) / 1000);
  const told = session?.status == null ? undefined : DOING[session.status];
  const still =
    told === undefined
      ? since(transcript?.mtime ?? (pane?.activity == null ? null : pane.activity * 1000))
      : null;
  const own = told ?? (still === null ? null : still <= BUSY_SECONDS ? 'busy' : 'idle');
  const throughOther = own === 'idle' && worker !== null;
  return {
    id: session?.sessionId ?? knownId,
    project: cwd === null ? null : cwd.slice(cwd.lastIndexOf('/') + 1) || cwd,
    name: session?.name ?? null,
    doing: throughOther ? 'busy' : own,
    waitingFor: told === 'waiting' ? (session?.waitingFor ?? null) : null,
    seconds: throughOther ? null : told === undefined ? still : since(session?.statusUpdatedAt ?? null),
  };
};
