import type { TmuxTarget } from '../../model/plan.ts';
import { runCommand } from '../../observe/run-command.ts';
import { ownTmux, real } from './own-tmux.ts';

export type TmuxEndResult =
  | { readonly status: 'ended' }
  | { readonly status: 'gone' }
  | { readonly status: 'refused' | 'failed'; readonly why: string };

const TIMEOUT_MS = 5000;

/** Ends an empty shell of a session after its processes ended. Never the session that reaptop sits in. */
export const endTmuxSession = async (
  target: TmuxTarget,
  env: NodeJS.ProcessEnv = process.env,
): Promise<TmuxEndResult> => {
  if (!/^\$\d+$/.test(target.sessionId))
    return { status: 'refused', why: `${JSON.stringify(target.sessionId)} is not a tmux session id` };
  // In the C locale tmux writes `_` for a tab, unless it is told that we read UTF-8.
  const tmux = (...args: string[]) =>
    runCommand('tmux', ['-u', '-S', target.socket, ...args], { timeoutMs: TIMEOUT_MS, env });

  const listed = await tmux('list-panes', '-s', '-t', target.sessionId, '-F', '#{session_name}\t#{pane_id}');
  if (listed.status === 'missing') return { status: 'failed', why: 'tmux is not in PATH' };
  if (listed.status !== 'done')
    return { status: 'failed', why: `the tmux server at ${target.socket} does not answer` };
  // No such session, or no server any more: a session ends by itself with its last pane.
  if (listed.code !== 0) return { status: 'gone' };
  const panes = listed.stdout
    .trimEnd()
    .split('\n')
    .map(line => line.split('\t'));
  if (panes.some(([name]) => name !== target.session))
    return { status: 'refused', why: `${target.sessionId} is no longer the session ${target.session}` };
  const own = ownTmux(env);
  const places = [target.sessionId, ...panes.map(([, pane]) => pane)];
  if (own?.socket === real(target.socket) && places.includes(own.place))
    return { status: 'refused', why: `reaptop itself sits in the tmux session ${target.session}` };

  const killed = await tmux('kill-session', '-t', target.sessionId);
  if (killed.status === 'done' && killed.code === 0) return { status: 'ended' };
  const again = await tmux('has-session', '-t', target.sessionId);
  if (again.status === 'done' && again.code !== 0) return { status: 'gone' };
  return { status: 'failed', why: `tmux did not end the session ${target.session}` };
};
