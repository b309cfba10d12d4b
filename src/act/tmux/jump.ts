import { basename, dirname } from 'node:path';
import { shellPath } from '../../model/shell.ts';
import { runCommand } from '../../observe/run-command.ts';
import { socketDirectory } from '../../observe/tmux/sockets.ts';
import { ownTmux, real } from './own-tmux.ts';

export interface JumpTarget {
  readonly socket: string;
  readonly session: string;
  readonly pane: string;
}

const TIMEOUT_MS = 3000;

/** Runs a tmux command; null when it failed. */
type Ask = (...args: string[]) => Promise<string | null>;

/** As short as tmux allows, because it must fit into the footer of a side pane. */
const byHandIn = ({ socket, pane }: JumpTarget, env: NodeJS.ProcessEnv): string => {
  const usual = socketDirectory(process.getuid?.() ?? 0, env);
  const name = basename(socket);
  const server =
    real(dirname(socket)) !== real(usual)
      ? ` -S ${shellPath(socket)}`
      : name === 'default'
        ? ''
        : ` -L ${shellPath(name)}`;
  return `tmux${server} attach -t ${pane}`;
};

/** Shows the pane in the client we sit in; where that cannot be done, says how the user can. */
export const jumpToPane = async (target: JumpTarget, env: NodeJS.ProcessEnv): Promise<string> => {
  const byHand = byHandIn(target, env);
  const own = ownTmux(env);
  if (own === null) return `Not inside tmux: ${byHand}`;
  if (own.socket !== real(target.socket)) return `On another server: TMUX= ${byHand}`;
  const tmux: Ask = async (...args) => {
    const result = await runCommand('tmux', ['-u', '-S', target.socket, ...args], {
      timeoutMs: TIMEOUT_MS,
      env,
    });
    return result.status === 'done' && result.code === 0 ? result.stdout.trim() : null;
  };
  const sessionOf = (place: string) => tmux('display-message', '-p', '-t', place, '#{session_id}');
  const there = await sessionOf(target.pane);
  if (there === null || there === '') return `Pane ${target.pane} is gone.`;
  const here = await sessionOf(own.place);
  // A redundant switch-client makes iTerm2 rebuild its windows: within one session, only select.
  if (there !== here) {
    const terminal = here === null ? null : await lastUsedTerminal(tmux, here);
    if (terminal === null) return `No terminal shows this session: ${byHand}`;
    if ((await tmux('switch-client', '-c', terminal, '-t', target.pane)) === null)
      return `tmux would not switch; by hand: ${byHand}`;
  }
  if ((await tmux('select-window', '-t', target.pane, ';', 'select-pane', '-t', target.pane)) === null)
    return `tmux would not switch; by hand: ${byHand}`;
  return `Now showing ${target.session} ${target.pane}`;
};

/** Of the terminals that show a session, the one whose user pressed a key last: that was the key for us. */
const lastUsedTerminal = async (tmux: Ask, session: string): Promise<string | null> => {
  const listed = await tmux('list-clients', '-F', '#{session_id} #{client_activity} #{client_tty}');
  const clients = (listed ?? '')
    .split('\n')
    .map(line => line.split(' '))
    .filter(([shown]) => shown === session)
    .sort(([, a], [, b]) => Number(b) - Number(a));
  return clients[0]?.[2] ?? null;
};
