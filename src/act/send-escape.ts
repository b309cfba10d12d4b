import { callLogOf } from '../agents/call-logs.ts';
import type { Identity } from '../model/identity.ts';
import type { TmuxPane } from '../model/observation.ts';
import { isInForeground } from '../observe/foreground.ts';
import { type CommandResult, runCommand } from '../observe/run-command.ts';
import type { System } from '../observe/system.ts';

export interface EscapeTarget {
  /** The agent that must be in front in the pane. */
  readonly agent: Identity;
  readonly family: string | null;
  readonly pane: Pick<TmuxPane, 'socket' | 'pane' | 'tty'>;
}

export type EscapeResult =
  | { readonly status: 'sent' }
  | { readonly status: 'refused' | 'failed'; readonly why: string };

const TIMEOUT_MS = 3000;

/** A command to the tmux server at this socket. */
export const tmuxAt = (socket: string, env: NodeJS.ProcessEnv, ...args: string[]): Promise<CommandResult> =>
  runCommand('tmux', ['-u', '-S', socket, ...args], { timeoutMs: TIMEOUT_MS, env });

/** Why keys that are sent to this pane would not go, or not only, to what runs in it; null: they would. */
export const whyNoKeys = async (
  { socket, pane, tty: known }: EscapeTarget['pane'],
  env: NodeJS.ProcessEnv,
): Promise<string | null> => {
  if (!/^%\d+$/.test(pane) || known === null) return 'its pane is not known';
  const format = '#{pane_tty} #{pane_in_mode} #{pane_dead} #{pane_input_off} #{pane_synchronized}';
  const asked = await tmuxAt(socket, env, 'display-message', '-p', '-t', pane, format);
  if (asked.status !== 'done' || asked.code !== 0) return 'tmux does not answer for its pane';
  const [tty = '', mode, dead, off, together] = asked.stdout.trim().split(' ');
  if (tty.replace(/^\/dev\//, '') !== known) return 'the pane has another terminal by now';
  if (mode !== '0') return 'the pane is in copy mode: leave that first';
  if (dead === '1' || off === '1') return 'the pane takes no keys';
  // What is typed there goes to its neighbours, too.
  return together === '1' ? 'the panes of its window are synchronised' : null;
};

/**
 * Escape, as its user would press it, only while this very process is in front in its pane: in a shell, an editor or
 * tmux's own copy mode the key would do something else.
 */
export const sendEscape = async (
  { agent, family, pane }: EscapeTarget,
  { system, env }: { readonly system: Pick<System, 'presence'>; readonly env: NodeJS.ProcessEnv },
): Promise<EscapeResult> => {
  const keys = callLogOf(family)?.interrupt;
  if (keys === undefined) return { status: 'refused', why: 'which key interrupts it is not known' };
  const closed = await whyNoKeys(pane, env);
  if (closed !== null) return { status: 'refused', why: closed };
  // Last of all, so that as little as possible can change in between.
  const found = await system.presence(agent.pid);
  if (found.status !== 'present' || found.identity.start !== agent.start)
    return { status: 'refused', why: 'it has ended' };
  const inFront = await isInForeground(agent.pid, pane.tty!);
  if (inFront !== true)
    return {
      status: 'refused',
      why:
        inFront === null
          ? 'cannot tell whether it is in the foreground of its pane'
          : 'another program is in the foreground of its pane',
    };
  const sent = await tmuxAt(pane.socket, env, 'send-keys', '-t', pane.pane, ...keys);
  return sent.status === 'done' && sent.code === 0
    ? { status: 'sent' }
    : { status: 'failed', why: 'tmux did not send the key' };
};
