import { formatAge } from '../../model/format.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import type { Detector } from './detector.ts';

/** Percent of a core below which an agent counts as idle in the list. */
const IDLE_CPU = 1;

const describe = (p: JudgedProcess): string => `${p.facts.pid} (${formatAge(p.ageSeconds)})`;

/** Nothing in it uses the CPU: an agent whose build does is at work. */
const isIdle = (tree: readonly JudgedProcess[]): boolean =>
  tree.every(({ facts }) => (facts.cpu ?? 0) < IDLE_CPU);

export const tooManyAgents: Detector = ({ processes, files, config }) => {
  const limit = config.thresholds['too-many-agents'].count;
  const families = groupByFamily(processes);
  return [...families]
    .filter(([, agents]) => agents.length > limit)
    .map(([family, agents]) => {
      const idle = agents.filter(p => p.facts.cpu !== null && isIdle(files.forest.subtreeOf(p)));
      const known = agents.some(p => p.facts.cpu !== null);
      return {
        id: 'too-many-agents',
        severity: 'info',
        title: `${agents.length} ${family} agents run`,
        why: `more than ${limit}; ${known ? (idle.length === 0 ? 'none is idle' : `idle now: ${idle.map(describe).join(', ')}`) : `the oldest is ${describe(oldest(agents))}`}`,
        processes: agents.map(identityOf),
        files: [],
        remedy: 'end the sessions you no longer need',
        action: null,
      };
    });
};

const oldest = (agents: readonly JudgedProcess[]): JudgedProcess =>
  agents.reduce((a, b) => ((b.ageSeconds ?? 0) > (a.ageSeconds ?? 0) ? b : a));

const groupByFamily = (processes: readonly JudgedProcess[]): Map<string, JudgedProcess[]> => {
  const families = new Map<string, JudgedProcess[]>();
  for (const p of processes) {
    if (p.agent === null || !p.isSession) continue;
    families.set(p.agent, [...(families.get(p.agent) ?? []), p]);
  }
  return families;
};
