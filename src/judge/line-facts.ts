import { callLogOf } from '../agents/call-logs.ts';
import { forestOf } from '../model/forest.ts';
import { isZombie, memoryOf } from '../model/process.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';
import type { LineFacts } from './status-line.ts';

/** Shells below an agent that no call of it waits for; null: which those are is not known. */
const backgroundShells = (agent: JudgedProcess, children: readonly JudgedProcess[]): number | null => {
  const shells = children.filter(p => p.seen.role === 'bash-tool' && !isZombie(p.facts)).length;
  if (shells === 0 || agent.session?.doing === 'idle') return shells;
  const calls = agent.session?.calls;
  if (calls === undefined) return null;
  const names = callLogOf(agent.agent)?.shells ?? [];
  const running = calls.filter(({ server, tool }) => server === null && names.includes(tool)).length;
  return Math.max(0, shells - running);
};

/** What a status bar shows of a moment. Not in `status-line.ts`, which starts with every hook. */
export const lineFactsOf = (snapshot: Snapshot): LineFacts => {
  const forest = forestOf(snapshot.processes, p => p.facts);
  return {
    totals: snapshot.totals,
    stale: snapshot.heartbeats.filter(({ state }) => state === 'warn' || state === 'critical').length,
    hung: snapshot.findings.filter(({ id }) => id === 'call-hung' || id === 'session-hung').length,
    agents: snapshot.processes
      .filter(({ isSession }) => isSession)
      .map(p => ({
        pid: p.facts.pid,
        start: p.facts.start,
        name: p.name,
        session: p.session,
        bytes: forest.subtreeOf(p).reduce((sum, one) => sum + memoryOf(one.facts), 0),
        shells: backgroundShells(p, forest.childrenOf(p)),
      })),
  };
};
