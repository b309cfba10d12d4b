import { runCommand } from '../../observe/run-command.ts';
import { socketOfTmuxVariable } from '../../observe/tmux/sockets.ts';

const TIMEOUT_MS = 2000;

/**
 * Into the buffer of the tmux server we sit in, and with `-w` (from tmux 3.2 on) to the clipboard of its terminal:
 * by itself tmux keeps what a program sends with OSC 52 from its buffers. False: there is no tmux, or it would not.
 */
export const copyToTmux = async (text: string, env: NodeJS.ProcessEnv): Promise<boolean> => {
  const socket = socketOfTmuxVariable(env.TMUX ?? '');
  if (socket === null) return false;
  const set = async (...flags: string[]): Promise<boolean> => {
    const result = await runCommand('tmux', ['-S', socket, 'set-buffer', ...flags, '--', text], {
      timeoutMs: TIMEOUT_MS,
      env,
    });
    return result.status === 'done' && result.code === 0;
  };
  return (await set('-w')) || (await set());
};
