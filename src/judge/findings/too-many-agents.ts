import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import { formatAge } from '../../model/units.ts';
import type { Detector } from './detector.ts';

const idleSeconds = ({ session }: JudgedProcess): number => session?.seconds ?? -1;

/** `68 webapp (1h51m)`: for how long it has been idle, where that is known. */
const describe = (p: JudgedProcess): string => {
  const project = p.session?.project == null ? '' : ` ${p.session.project}`;
  const since = idleSeconds(p) < 0 ? '' : ` (${formatAge(idleSeconds(p))})`;
  return `${p.facts.pid}${project}${since}`;
};

/** Only one that is known to be idle is called so: one that works or waits for its user is needed. */
const idleText = (agents: readonly JudgedProcess[]): string => {
  const doing = (what: string): readonly JudgedProcess[] => agents.filter(p => p.session?.doing === what);
  const idle = [...doing('idle')].sort((a, b) => idleSeconds(b) - idleSeconds(a));
  const others = [
    [doing('busy').length, 'busy'],
    [doing('waiting').length, 'waiting for you'],
    [agents.filter(p => p.session?.doing == null).length, 'unknown'],
  ] as const;
  return [
    idle.length === 0 ? 'none known to be idle' : `idle: ${idle.map(describe).join(', ')}`,
    ...others.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`),
  ].join('; ');
};

export const tooManyAgents: Detector = ({ processes, config }) => {
  const limit = config.thresholds['too-many-agents'].count;
  return [...groupByFamily(processes)]
    .filter(([, agents]) => agents.length > limit)
    .map(([family, agents]) => ({
      id: 'too-many-agents',
      severity: 'info',
      title: `${agents.length} ${family} agents run`,
      why: `more than ${limit}; ${idleText(agents)}`,
      processes: agents.map(identityOf),
      files: [],
      remedy: agents.some(p => p.session?.doing === 'idle')
        ? 'end the idle sessions you no longer need'
        : 'nothing to end now: none is known to be idle',
      action: null,
    }));
};

const groupByFamily = (processes: readonly JudgedProcess[]): Map<string, JudgedProcess[]> => {
  const families = new Map<string, JudgedProcess[]>();
  for (const p of processes) {
    if (p.agent === null || !p.isSession) continue;
    families.set(p.agent, [...(families.get(p.agent) ?? []), p]);
  }
  return families;
};
