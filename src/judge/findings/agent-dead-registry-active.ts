import { pushTo } from '../../model/forest.ts';
import { formatAge, plural } from '../../model/units.ts';
import type { OrchestratedAgent } from '../heartbeats/orchestrated.ts';
import type { Detector, FindingContext } from './detector.ts';

/** A registry entry is written before its session is started, and a log may outlive its session by a moment. */
const STARTING_SECONDS = 30;

const isDeadButActive = (
  agent: OrchestratedAgent,
  { files, observation }: FindingContext,
  running: ReadonlySet<number>,
): boolean => {
  const { member } = agent;
  // An incomplete table, or a tmux server that did not answer, proves no agent dead.
  if (member === null || member.terminal || agent.sessionUnknown || !observation.complete) return false;
  if (agent.panes.length > 0 || agent.processes.length > 0) return false;
  if (member.pid !== null && running.has(member.pid)) return false;
  if (member.startedAt !== null && files.now - member.startedAt < STARTING_SECONDS * 1000) return false;
  const growing = agent.quietSeconds !== null && agent.quietSeconds < STARTING_SECONDS;
  return !growing || agent.finished !== null;
};

const describe = (agent: OrchestratedAgent): string => {
  const heard = agent.quietSeconds === null ? '' : `, last heard of ${formatAge(agent.quietSeconds)} ago`;
  return `${agent.id}: no session ${agent.sessionName} and no process${heard}${
    agent.finished === null ? '' : `; ${agent.finished}`
  }`;
};

/** Agents that their registry calls running, of which nothing is left. One finding per registry: old ones pile up. */
export const agentDeadRegistryActive: Detector = context => {
  if (context.files.orchestrated.length === 0) return [];
  const running = new Set(context.observation.processes.filter(p => p.state !== 'Z').map(p => p.pid));
  const registries = new Map<string, OrchestratedAgent[]>();
  for (const agent of context.files.orchestrated) {
    if (agent.registry === null || !isDeadButActive(agent, context, running)) continue;
    pushTo(registries, agent.registry.reading.path, agent);
  }
  return [...registries].map(([path, dead]) => ({
    id: 'agent-dead-registry-active',
    severity: 'warn',
    title: `${
      dead.length === 1 ? `agent ${dead[0]?.id} is` : `${plural(dead.length, 'agent')} are`
    } running in the registry, but gone`,
    why: dead.slice(0, 3).map(describe).join('; '),
    processes: [],
    files: [path],
    remedy: 'update the orchestrator; reaptop never writes a registry',
    action: null,
  }));
};
