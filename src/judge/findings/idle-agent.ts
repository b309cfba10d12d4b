import { keyOf } from '../../model/identity.ts';
import { isZombie } from '../../model/process.ts';
import { identityOf, type JudgedProcess, label } from '../../model/snapshot.ts';
import { formatAge } from '../../model/units.ts';
import type { Detector, FindingContext } from './detector.ts';

/** Servers are an agent's furniture: they are there whether or not it works. */
const isServer = (p: JudgedProcess): boolean =>
  p.kind === 'mcp' || p.kind === 'lean-lsp' || p.seen.wraps === 'mcp' || p.seen.wraps === 'lean-lsp';

/** Idle processes still wake up for timers; a percent of a core is work. */
const WORK_PERCENT = 1;

/** Whether it used the CPU while we watched. A single sample does not show it: then a child that is not a server counts. */
const isAtWork = (p: JudgedProcess, agent: JudgedProcess, { past }: FindingContext): boolean => {
  if (isZombie(p.facts)) return false;
  const told = [p.facts.cpu, ...past.memory(keyOf(p.facts)).map(point => point.cpu)].filter(
    cpu => cpu !== null,
  );
  return told.length === 0 ? p !== agent && !isServer(p) : told.some(cpu => cpu >= WORK_PERCENT);
};

/** Seconds since it last wrote to its transcript or its pane; null when neither can be seen. */
const silence = (agent: JudgedProcess, { files, observation }: FindingContext): number | null => {
  const written = files.index
    .about(agent)
    .filter(({ reading }) => reading.format === 'transcript')
    .map(file => file.ageSeconds);
  const pane = observation.tmux
    .flatMap(server => server.panes)
    .find(p => p.socket === agent.tmux?.socket && p.pane === agent.tmux?.pane);
  const shown = pane?.activity == null ? null : Math.max(0, files.now / 1000 - pane.activity);
  const known = [...written, shown].filter(seconds => seconds !== null);
  return known.length === 0 ? null : Math.min(...known);
};

/** An agent that has done nothing for long: no CPU in its whole subtree, no word to transcript or pane. */
export const idleAgent: Detector = context => {
  const { seconds } = context.config.thresholds['idle-agent'];
  return context.processes.flatMap(agent => {
    if (agent.kind !== 'agent' || isZombie(agent.facts) || agent.protection === 'hard') return [];
    if (agent.ageSeconds === null || agent.ageSeconds < seconds) return [];
    const silent = silence(agent, context);
    if (silent === null || silent < seconds) return [];
    if (context.files.forest.subtreeOf(agent).some(p => isAtWork(p, agent, context))) return [];
    return [
      {
        id: 'idle-agent',
        severity: 'info',
        title: `${label(agent)} has been idle for ${formatAge(silent)}`,
        why: 'no CPU in its whole subtree, nothing written to its transcript or its pane',
        processes: [identityOf(agent)],
        files: [],
        remedy: 'put it to sleep: end it, keep the way back',
        action: 'sleep',
      },
    ];
  });
};
