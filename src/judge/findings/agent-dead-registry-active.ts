import { formatAge } from '../../model/format.ts';
import type { FileDetector } from '../heartbeats/file-detector.ts';

/** A registry entry is written before its session is started. */
const STARTING_SECONDS = 30;

/** An agent that its registry calls running, of which neither session nor process is left. */
export const agentDeadRegistryActive: FileDetector = ({ files, observation }) =>
  files.orchestrated.flatMap(agent => {
    const { member, registry } = agent;
    // An incomplete table, or a tmux server that gave no answer, proves nobody dead.
    if (
      member === null ||
      registry === null ||
      member.terminal ||
      agent.sessionUnknown ||
      !observation.complete
    )
      return [];
    if (agent.panes.length > 0 || agent.processes.length > 0) return [];
    if (member.pid !== null && observation.processes.some(p => p.pid === member.pid && p.state !== 'Z'))
      return [];
    const since = member.startedAt === null ? null : (files.now - member.startedAt) / 1000;
    if (since !== null && since < STARTING_SECONDS) return [];
    const growing = agent.quietSeconds !== null && agent.quietSeconds < STARTING_SECONDS;
    if (growing && agent.finished === null) return [];
    return [
      {
        id: 'agent-dead-registry-active',
        severity: 'warn',
        title: `agent ${agent.id} is ${member.status ?? 'active'} in its registry, but gone`,
        why: `there is no session ${agent.sessionName} and no process of it${
          agent.finished === null ? '' : `; ${agent.finished}`
        }${agent.quietSeconds === null ? '' : `; last heard of ${formatAge(agent.quietSeconds)} ago`}`,
        processes: [],
        files: [registry.reading.path],
        remedy: 'tell the orchestrator; reaptop never writes a registry',
        action: null,
      },
    ];
  });
