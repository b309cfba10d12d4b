import { realpathSync } from 'node:fs';
import { socketOfTmuxVariable } from '../../observe/tmux/sockets.ts';

/** /tmp is a link on macOS: one socket may have two names. */
export const real = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path; // gone, or not ours to follow: compared as it is
  }
};

/**
 * Where we sit: `$TMUX` is `socket,server pid,session number`; `$TMUX_PANE`, the pane we were started in, tells more,
 * because panes can move between sessions.
 */
export const ownTmux = (env: NodeJS.ProcessEnv): { socket: string; place: string } | null => {
  const value = env.TMUX ?? '';
  const socket = socketOfTmuxVariable(value);
  return socket === null
    ? null
    : { socket: real(socket), place: env.TMUX_PANE ?? `$${value.split(',').at(-1)}` };
};
