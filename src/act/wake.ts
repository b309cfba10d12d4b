import { type RememberedSession, resumeFromAnywhere } from '../model/asleep.ts';
import type { TmuxPane } from '../model/observation.ts';
import { isZombie } from '../model/process.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';
import { foregroundGroup } from '../observe/foreground.ts';
import { runCommand } from '../observe/run-command.ts';
import { REAL_CLOCK } from './clock.ts';
import { tmuxAt, whyNoKeys } from './send-escape.ts';
import { ownTmux } from './tmux.ts';

export type WakeResult =
  /** Its command stands in this pane; with `run` it was entered. */
  | {
      readonly status: 'typed';
      readonly session: string;
      readonly pane: string;
      readonly isNew: boolean;
    }
  /** There is no tmux to type it into. */
  | { readonly status: 'by-hand' | 'failed'; readonly why: string };

export interface WakeOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly run: boolean;
}

const STTY_MS = 2000;

/** A line editor reads every key by itself; what runs in front of it, and `read`, takes whole lines. */
const editsLine = async (tty: string): Promise<boolean> => {
  const flag = process.platform === 'linux' ? '-F' : '-f';
  const asked = await runCommand('stty', [flag, `/dev/${tty}`, '-a'], { timeoutMs: STTY_MS });
  return asked.status === 'done' && asked.code === 0 && /(^|\s)-icanon(\s|;|$)/.test(asked.stdout);
};

/** Nothing but the prompt stands before the cursor: what its user has half typed must not become part of a command. */
const PROMPT = /(?:[$#%❯➜»›λ⟩]|\S>)\s{0,2}$/;

const isBlankPrompt = async ({ socket, pane }: TmuxPane, env: NodeJS.ProcessEnv): Promise<boolean> => {
  const at = await tmuxAt(socket, env, 'display-message', '-p', '-t', pane, '#{cursor_x} #{cursor_y}');
  const found = at.status === 'done' && at.code === 0 ? /^(\d+) (\d+)\s*$/.exec(at.stdout) : null;
  if (found === null) return false;
  const [, x, y] = found as unknown as [string, string, string];
  const shown = await tmuxAt(socket, env, 'capture-pane', '-p', '-N', '-t', pane, '-S', y, '-E', y);
  return shown.status === 'done' && shown.code === 0 && PROMPT.test(shown.stdout.slice(0, Number(x)));
};

/** Started by a person, and not to run a script or a command. */
const isInteractive = ({ kind, facts }: JudgedProcess): boolean =>
  kind === 'shell' &&
  facts.argv !== null &&
  facts.argv.slice(1).every(word => /^-/.test(word) && !/^-[a-z]*c$/.test(word));

/** Why nothing may be typed into this pane; null: an idle shell is in front there, at an empty prompt. */
const whyNotTyped = async (
  pane: TmuxPane,
  { processes }: Snapshot,
  env: NodeJS.ProcessEnv,
): Promise<string | null> => {
  const closed = await whyNoKeys(pane, env);
  if (closed !== null) return closed;
  const there = processes.filter(p => p.facts.tty === pane.tty && !isZombie(p.facts));
  const [any] = there;
  const group = any === undefined ? null : await foregroundGroup(any.facts.pid);
  if (group === null) return 'cannot tell what is in the foreground of its pane';
  const front = there.filter(p => p.facts.pgid === group);
  const [shell] = front;
  if (shell === undefined || front.length > 1 || !isInteractive(shell))
    return 'another program is in the foreground of its pane';
  if (shell.facts.state !== 'S' || !(await editsLine(pane.tty!)))
    return 'the shell in its pane is not at its prompt';
  if (!(await isBlankPrompt(pane, env))) return 'something is typed in its pane already';
  // Last of all, so that as little as possible can change in between.
  return (await foregroundGroup(shell.facts.pid)) === group
    ? null
    : 'another program is in the foreground of its pane';
};

const send = async (
  { socket, pane }: Pick<TmuxPane, 'socket' | 'pane'>,
  line: string,
  { env, run }: WakeOptions,
): Promise<boolean> => {
  const typed = await tmuxAt(socket, env, 'send-keys', '-t', pane, '-l', '--', line);
  if (typed.status !== 'done' || typed.code !== 0) return false;
  if (!run) return true;
  const entered = await tmuxAt(socket, env, 'send-keys', '-t', pane, 'Enter');
  return entered.status === 'done' && entered.code === 0;
};

/** The pane it was in, as long as its server is the same: another server gives the same numbers to other panes. */
const oldPane = ({ tmux }: RememberedSession, snapshot: Snapshot): TmuxPane | null => {
  const server = snapshot.tmux.find(({ socket, reachable }) => reachable && socket === tmux?.socket);
  if (tmux == null || server === undefined || tmux.server === null || server.pid !== tmux.server) return null;
  return server.panes.find(({ pane, dead }) => pane === tmux.pane && !dead) ?? null;
};

/** Where a new window is opened: in the session it was in, else in the one that we sit in. */
const windowPlace = (
  { tmux }: RememberedSession,
  snapshot: Snapshot,
  env: NodeJS.ProcessEnv,
): { readonly socket: string; readonly target: string; readonly session: string } | null => {
  const server = snapshot.tmux.find(({ socket, reachable }) => reachable && socket === tmux?.socket);
  const pane = server?.panes.find(({ session }) => session === tmux?.session);
  if (pane !== undefined) return { socket: pane.socket, target: `${pane.sessionId}:`, session: pane.session };
  const own = ownTmux(env);
  return own === null ? null : { socket: own.socket, target: own.place, session: 'your session' };
};

/** A new shell reads its files first; what is typed meanwhile is kept by the terminal, but looks odd. */
const SHELL_MS = 3000;
const SHELL_STEP_MS = 50;

const openWindow = async (
  session: RememberedSession,
  snapshot: Snapshot,
  options: WakeOptions,
  whyNot: string,
): Promise<WakeResult> => {
  const { env } = options;
  const place = windowPlace(session, snapshot, env);
  if (place === null)
    return { status: 'by-hand', why: `there is no tmux session to type it into (${whyNot})` };
  const format = '#{pane_id} #{pane_tty}';
  const made = await tmuxAt(
    place.socket,
    env,
    ...['new-window', '-P', '-F', format, '-t', place.target, '-c', session.cwd],
  );
  const found =
    made.status === 'done' && made.code === 0 ? /^(%\d+) \/dev\/(\S+)\s*$/.exec(made.stdout) : null;
  if (found === null) return { status: 'failed', why: 'tmux did not open a window' };
  const [, pane, tty] = found as unknown as [string, string, string];
  for (let waited = 0; waited < SHELL_MS && !(await editsLine(tty)); waited += SHELL_STEP_MS)
    await REAL_CLOCK.wait(SHELL_STEP_MS);
  return (await send({ socket: place.socket, pane }, session.resume, options))
    ? { status: 'typed', session: place.session, pane, isNew: true }
    : { status: 'failed', why: 'tmux did not type the command' };
};

/**
 * Types the command that brings a session back into its old pane, where an idle shell is at an empty prompt; else into a
 * new window. It is entered only with `run`.
 */
export const wakeSession = async (
  session: RememberedSession,
  snapshot: Snapshot,
  options: WakeOptions,
): Promise<WakeResult> => {
  const pane = oldPane(session, snapshot);
  const why = pane === null ? 'its pane is gone' : await whyNotTyped(pane, snapshot, options.env);
  if (pane === null || why !== null) return openWindow(session, snapshot, options, why ?? '');
  return (await send(pane, resumeFromAnywhere(session), options))
    ? { status: 'typed', session: pane.session, pane: pane.pane, isNew: false }
    : { status: 'failed', why: 'tmux did not type the command' };
};
