import { identityOf } from '../../model/snapshot.ts';
import { formatAge } from '../../model/units.ts';
import type { Detector } from './detector.ts';

/** An agent whose own records say that it is done, while its tmux session lives on. */
export const agentFinishedSessionAlive: Detector = ({ files }) =>
  files.orchestrated.flatMap(agent => {
    if (agent.finished === null || agent.panes.length === 0) return [];
    const attached = agent.panes.some(pane => pane.attached);
    const quiet =
      agent.quietSeconds === null ? '' : `; its files last changed ${formatAge(agent.quietSeconds)} ago`;
    return [
      {
        id: 'agent-finished-session-alive',
        severity: 'warn',
        title: `agent ${agent.id} finished, but its session ${agent.sessionName} is still open`,
        why: `${agent.finished}${quiet}${attached ? '; a client is attached to it' : ''}`,
        processes: agent.processes.map(identityOf),
        files: agent.files.map(file => file.reading.path),
        remedy: attached
          ? 'detach from its tmux session first: sweep does not end attached sessions'
          : 'end the session and archive its files',
        action: attached ? null : 'sweep',
      },
    ];
  });
