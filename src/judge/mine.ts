import { callLogOf } from '../agents/call-logs.ts';
import { type Forest, forestOf, selfAndAncestors } from '../model/forest.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import { isZombie } from '../model/process.ts';
import { type JudgedProcess, label, type Snapshot } from '../model/snapshot.ts';
import { totalsOf } from './judge.ts';

/** The agent session that a command was called from, and what it started and left. */
export interface Mine {
  /** null: no process of it is seen, only what carries its id. */
  readonly agent: JudgedProcess | null;
  readonly sessionId: string | null;
  /** Without the agent, and without the shell that we were called in. */
  readonly processes: readonly JudgedProcess[];
  /** Shells that run in the background, where it can be told which those are. */
  readonly shells: readonly JudgedProcess[];
  /** Why it cannot be told; null: it can. */
  readonly whyNoShells: string | null;
}

/** What the environment of the caller says; it names a session, and proves nothing. */
export interface AskedBySession {
  readonly sessionId: string | null;
}

/** null: we were not called from a session. */
export const mineOf = (snapshot: Snapshot, asked: AskedBySession): Mine | null => {
  const forest = forestOf(snapshot.processes, p => p.facts);
  const line = selfAndAncestors(forest.at(snapshot.self?.pid ?? null), p => forest.parentOf(p));
  const above = [...line].find(p => p.kind === 'agent');
  // One that serves several sessions does not tell which of them asks.
  const caller = above?.isSession === true && above.seen.role !== 'session-host' ? above : null;
  const named =
    asked.sessionId === null || caller !== null
      ? null
      : (snapshot.processes.find(p => p.isSession && p.session?.id === asked.sessionId) ?? null);
  const agent = caller ?? named;
  const sessionId = agent?.session?.id ?? (agent === null ? asked.sessionId : null);
  if (agent === null && sessionId === null) return null;
  const processes = ownOf(snapshot.processes, { agent, sessionId }, forest).filter(p => !line.has(p));
  return { agent, sessionId, processes, ...backgroundShells(caller, forest, line) };
};

const ownOf = (
  processes: readonly JudgedProcess[],
  { agent, sessionId }: Pick<Mine, 'agent' | 'sessionId'>,
  forest: Forest<JudgedProcess>,
): readonly JudgedProcess[] => {
  const owned = processes.filter(
    ({ owner }) =>
      owner !== null &&
      ((agent !== null && owner.pid === agent.facts.pid && owner.start === agent.facts.start) ||
        (sessionId !== null && owner.sessionId === sessionId)),
  );
  const found = new Set<JudgedProcess>();
  const pending = [...(agent === null ? [] : forest.childrenOf(agent)), ...owned];
  for (let p = pending.pop(); p !== undefined; p = pending.pop()) {
    if (found.has(p)) continue;
    found.add(p);
    // Others have windows in a tmux server, whoever started it.
    if (p.kind !== 'tmux') pending.push(...forest.childrenOf(p));
  }
  if (agent !== null) found.delete(agent);
  return processes.filter(p => found.has(p));
};

/** Its shells but the one that waits for us. While another call runs one, it is not known which that is. */
const backgroundShells = (
  caller: JudgedProcess | null,
  forest: Forest<JudgedProcess>,
  line: ReadonlySet<JudgedProcess>,
): Pick<Mine, 'shells' | 'whyNoShells'> => {
  const none = (whyNoShells: string) => ({ shells: [], whyNoShells });
  if (caller === null) return none('reaptop does not run below the session that it asks about');
  const shells = forest
    .childrenOf(caller)
    .filter(p => p.seen.role === 'bash-tool' && !isZombie(p.facts) && !line.has(p));
  if (shells.length === 0) return { shells, whyNoShells: null };
  const calls = caller.session?.calls;
  const shellTools = callLogOf(caller.agent)?.shells ?? [];
  if (calls === undefined) return none(`what ${label(caller)} is doing cannot be read`);
  const running = calls.filter(({ server, tool }) => server === null && shellTools.includes(tool)).length;
  // Our own call must be among them: else what was read is older than it.
  return running === 1
    ? { shells, whyNoShells: null }
    : none(
        running === 0
          ? `the log of ${label(caller)} does not show the call that runs reaptop`
          : `${running} commands of ${label(caller)} run at once, and which shell is whose is not known`,
      );
};

/** The same moment with nothing but this session in it. */
export const onlyMine = (snapshot: Snapshot, mine: Mine): Snapshot => {
  const processes = mine.agent === null ? mine.processes : [mine.agent, ...mine.processes];
  const keys = new Set<IdentityKey>(processes.map(p => keyOf(p.facts)));
  return {
    ...snapshot,
    processes,
    totals: totalsOf(processes, snapshot.totals.processes),
    findings: snapshot.findings.filter(finding => finding.processes.some(p => keys.has(keyOf(p)))),
    heartbeats: snapshot.heartbeats.filter(({ agent }) => agent !== null && keys.has(keyOf(agent))),
  };
};
