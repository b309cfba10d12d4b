import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { TmuxTarget } from '../model/plan.ts';
import { shellPath } from '../model/shell.ts';
import { runCommand } from '../observe/run-command.ts';
import { socketDirectory, socketOfTmuxVariable } from '../observe/tmux.ts';

export interface JumpTarget {
  readonly socket: string;
  readonly session: string;
  readonly pane: string;
}

const JUMP_TIMEOUT_MS = 3000;

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
      timeoutMs: JUMP_TIMEOUT_MS,
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

/**
 * Outside tmux: the way to attach this terminal to the pane until the user detaches. Null inside tmux, which would be
 * nested. Whoever holds the terminal must have let go of it.
 */
export const attachmentTo = (target: JumpTarget, env: NodeJS.ProcessEnv): (() => Promise<string>) | null => {
  if (ownTmux(env) !== null || !/^%\d+$/.test(target.pane)) return null;
  const byHand = byHandIn(target, env);
  return () =>
    new Promise(resolve => {
      const child = spawn('tmux', ['-u', '-S', target.socket, 'attach', '-t', target.pane], {
        stdio: 'inherit',
        env,
      });
      child.on('error', () => resolve(`tmux could not be started: ${byHand}`));
      child.on('close', code =>
        resolve(
          code === 0
            ? `Back from ${target.session} ${target.pane}.`
            : `tmux did not attach; by hand: ${byHand}`,
        ),
      );
    });
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

export type TmuxEndResult =
  | { readonly status: 'ended' }
  | { readonly status: 'gone' }
  | { readonly status: 'refused' | 'failed'; readonly why: string };

const END_TIMEOUT_MS = 5000;

/** Ends an empty shell of a session after its processes ended. Never the session that reaptop sits in. */
export const endTmuxSession = async (
  target: TmuxTarget,
  env: NodeJS.ProcessEnv = process.env,
): Promise<TmuxEndResult> => {
  if (!/^\$\d+$/.test(target.sessionId))
    return { status: 'refused', why: `${JSON.stringify(target.sessionId)} is not a tmux session id` };
  // In the C locale tmux writes `_` for a tab, unless it is told that we read UTF-8.
  const tmux = (...args: string[]) =>
    runCommand('tmux', ['-u', '-S', target.socket, ...args], { timeoutMs: END_TIMEOUT_MS, env });

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

const COPY_TIMEOUT_MS = 2000;

/**
 * Into the buffer of the tmux server we sit in, and with `-w` (from tmux 3.2 on) to the clipboard of its terminal:
 * by itself tmux keeps what a program sends with OSC 52 from its buffers. False: there is no tmux, or it would not.
 */
export const copyToTmux = async (text: string, env: NodeJS.ProcessEnv): Promise<boolean> => {
  const socket = socketOfTmuxVariable(env.TMUX ?? '');
  if (socket === null) return false;
  const set = async (...flags: string[]): Promise<boolean> => {
    const result = await runCommand('tmux', ['-S', socket, 'set-buffer', ...flags, '--', text], {
      timeoutMs: COPY_TIMEOUT_MS,
      env,
    });
    return result.status === 'done' && result.code === 0;
  };
  return (await set('-w')) || (await set());
};

const DISPLAY_TIMEOUT_MS = 2000;

/** A message in the status line of the tmux we sit in. `#` begins a format there: doubled, it is itself. */
export const displayInTmux = async (text: string, env: NodeJS.ProcessEnv): Promise<void> => {
  const socket = socketOfTmuxVariable(env.TMUX ?? '');
  if (socket === null) return;
  const place = env.TMUX_PANE === undefined ? [] : ['-t', env.TMUX_PANE];
  await runCommand(
    'tmux',
    ['-u', '-S', socket, 'display-message', ...place, '--', text.replaceAll('#', '##')],
    {
      timeoutMs: DISPLAY_TIMEOUT_MS,
      env,
    },
  );
};

/** /tmp is a link on macOS: one socket may have two names. */
const real = (path: string): string => {
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
