import { runCommand } from './run-command.ts';

export interface JumpTarget {
  readonly socket: string;
  readonly session: string;
  readonly pane: string;
}

const TIMEOUT_MS = 3000;

interface Client {
  readonly tty: string;
  readonly session: string;
}

/** `$TMUX` is `socket,server pid,session id`. */
const ownTmux = (env: NodeJS.ProcessEnv): { socket: string; session: string } | null => {
  const [socket, , session] = (env.TMUX ?? '').split(',');
  return socket ? { socket, session: session === undefined ? '' : `$${session}` } : null;
};

/** Shows the pane in the client we sit in; where that cannot be done, says how the user can. */
export const jumpToPane = async (target: JumpTarget, env: NodeJS.ProcessEnv): Promise<string> => {
  const byHand = `tmux -S ${target.socket} attach -t '${target.pane}'`;
  const own = ownTmux(env);
  if (own === null) return `Not inside tmux: ${byHand}`;
  if (own.socket !== target.socket) return `On another tmux server: TMUX= ${byHand}`;
  const tmux = (...args: string[]) =>
    runCommand('tmux', ['-u', '-S', target.socket, ...args], { timeoutMs: TIMEOUT_MS, env });
  const client = await ownClient(tmux, own.session);
  if (client === null) return `Several terminals show this session: ${byHand}`;
  const where = await tmux('display-message', '-p', '-t', target.pane, '#{session_id}');
  if (where.status !== 'done' || where.code !== 0) return `Pane ${target.pane} is gone.`;
  // A redundant switch-client makes iTerm2 rebuild its windows: within one session, only select.
  const steps =
    where.stdout.trim() === client.session
      ? [['select-window', '-t', target.pane, ';', 'select-pane', '-t', target.pane]]
      : [['switch-client', '-c', client.tty, '-t', target.pane]];
  for (const step of steps) {
    const result = await tmux(...step);
    if (result.status !== 'done' || result.code !== 0) return `tmux would not switch; by hand: ${byHand}`;
  }
  return `Now showing ${target.session} ${target.pane}`;
};

/** The terminal that shows our session; null when it is not exactly one. */
const ownClient = async (
  tmux: (...args: string[]) => ReturnType<typeof runCommand>,
  session: string,
): Promise<Client | null> => {
  const listed = await tmux('list-clients', '-F', '#{client_tty} #{session_id}');
  if (listed.status !== 'done') return null;
  const clients = listed.stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => ({ tty: line.split(' ')[0]!, session: line.split(' ')[1] ?? '' }))
    .filter(client => client.session === session);
  return clients.length === 1 ? clients[0]! : null;
};
