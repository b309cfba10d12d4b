import type { Family } from './families.ts';

/**
 * The server keeps the argv of the command that first started it (`tmux new -s agent_7 claude`), and only
 * Linux renames the process. Without that name it counts as the server unless its command is a client's:
 * to protect a client too much costs nothing.
 */
export const TMUX: readonly Family[] = [
  { id: 'tmux', kind: 'tmux', name: 'tmux server', comms: ['tmux: server'], role: 'tmux-server' },
  { id: 'tmux', kind: 'tmux', name: 'tmux client', comms: ['tmux: client'], role: 'tmux-client' },
  {
    id: 'tmux',
    kind: 'tmux',
    name: 'tmux server',
    programs: ['tmux'],
    role: 'tmux-server',
    valueFlags: ['-L', '-S', '-f', '-c', '-T'],
    forms: [
      {
        when: {
          command: ['attach', 'attach-session', 'a', 'at', 'client', 'wait-for', 'wait', 'switch-client'],
        },
        role: 'tmux-client',
        name: 'tmux client',
      },
      { when: { flag: ['-C', '-CC'] }, role: 'tmux-client', name: 'tmux client' },
    ],
  },
];
