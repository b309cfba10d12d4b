import { runCommand } from '../../observe/run-command.ts';
import { socketOfTmuxVariable } from '../../observe/tmux/sockets.ts';

const TIMEOUT_MS = 2000;

/** A message in the status line of the tmux we sit in. `#` begins a format there: doubled, it is itself. */
export const displayInTmux = async (text: string, env: NodeJS.ProcessEnv): Promise<void> => {
  const socket = socketOfTmuxVariable(env.TMUX ?? '');
  if (socket === null) return;
  const place = env.TMUX_PANE === undefined ? [] : ['-t', env.TMUX_PANE];
  await runCommand(
    'tmux',
    ['-u', '-S', socket, 'display-message', ...place, '--', text.replaceAll('#', '##')],
    {
      timeoutMs: TIMEOUT_MS,
      env,
    },
  );
};
