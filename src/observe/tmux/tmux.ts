import type { TmuxServer } from '../../model/observation.ts';
import { visible } from '../../model/text.ts';
import { whetherAccepts } from './accepts.ts';
import { PANE_FORMAT, parsePanes } from './panes.ts';
import { findSockets, socketDirectory, socketOfTmuxVariable } from './sockets.ts';

export interface TmuxRequest {
  readonly uid: number;
  readonly env: NodeJS.ProcessEnv;
  /** tmux server processes of this user seen in the process table; `socketHint`: their `-S` path or `-L` name. */
  readonly servers: readonly { readonly pid: number; readonly socketHint?: string | undefined }[];
  /** `$TMUX` values, or plain socket paths, seen in environments. */
  readonly sockets?: readonly string[];
  /** For all of them together. */
  readonly timeoutMs?: number;
}

export interface TmuxListing {
  readonly servers: TmuxServer[];
  readonly warnings: string[];
}

type Answer =
  | { readonly kind: 'server'; readonly server: TmuxServer }
  /** A socket file whose server is gone: nothing runs there. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'silent'; readonly server: TmuxServer; readonly why: string }
  | { readonly kind: 'no-tmux' };

// A healthy server answers in 5 ms; one that is stopped, or swapping, never does.
const TIMEOUT_MS = 1000;

/** Each is a child process; more at once would only take turns. */
const AT_ONCE = 8;

const STALE = /no server running|no such file or directory|connection refused|not a socket/i;

const childEnv = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  const { TMUX: _, TMUX_PANE: __, ...rest } = env;
  return { ...rest, LC_ALL: 'C.UTF-8' };
};

const silentAt = (socket: string, why: string): Answer => ({
  kind: 'silent',
  why,
  server: { socket, pid: null, reachable: false, panes: [] },
});

/** A tmux for each socket that nobody listens on would be a child process for nothing. */
const askWhoAccepts = async (socket: string, env: NodeJS.ProcessEnv, until: number): Promise<Answer> => {
  const left = (): number => Math.round(until - performance.now());
  if (left() <= 0) return silentAt(socket, 'there was no time left to ask it');
  const found = await whetherAccepts(socket, left());
  if (found === 'stale') return { kind: 'stale' };
  if (found !== 'accepts') return silentAt(socket, found.silent);
  return left() <= 0 ? silentAt(socket, 'there was no time left to ask it') : ask(socket, env, left());
};

/** So many at once, in this order. */
const askAll = async (
  sockets: readonly string[],
  env: NodeJS.ProcessEnv,
  timeoutMs: number,
): Promise<Answer[]> => {
  const until = performance.now() + timeoutMs;
  const answers: Answer[] = [];
  const waiting = sockets.entries();
  const worker = async (): Promise<void> => {
    for (const [at, socket] of waiting) answers[at] = await askWhoAccepts(socket, env, until);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return answers;
};

const ask = (socket: string, env: NodeJS.ProcessEnv, timeoutMs: number): Promise<Answer> =>
  new Promise(answer => {
    const silent = (why: string): void => answer(silentAt(socket, why));
    // Loaded here and not at the top: it costs 5 ms of a start that may take 30, and most machines run no tmux.
    const { execFile } = process.getBuiltinModule('node:child_process');
    execFile(
      'tmux',
      ['-u', '-S', socket, 'list-panes', '-a', '-F', PANE_FORMAT],
      { env, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 16 * 1024 ** 2, encoding: 'utf8' },
      (error, stdout, stderr) => {
        if (error === null) {
          const { serverPid, panes } = parsePanes(socket, stdout);
          answer({ kind: 'server', server: { socket, pid: serverPid, reachable: true, panes } });
        } else if (error.code === 'ENOENT') answer({ kind: 'no-tmux' });
        else if (error.killed === true) silent('did not answer in time');
        else if (STALE.test(stderr)) answer({ kind: 'stale' });
        else silent(stderr.trim().split('\n')[0] || error.message.split('\n')[0] || 'gave no answer');
      },
    );
  });

/** One sentence, however many keep silent. */
const silenceOf = (answers: readonly Answer[]): string[] => {
  const [first, ...others] = answers.filter(answer => answer.kind === 'silent');
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : `, and ${others.length} more like it`;
  return [visible(`The tmux server at ${first.server.socket} cannot be asked (${first.why})${more}.`)];
};

const hintToPath = (hint: string, request: TmuxRequest): string =>
  socketOfTmuxVariable(hint) ?? `${socketDirectory(request.uid, request.env)}/${hint}`;

/**
 * Asks every tmux server of the user for its panes. A server process that no socket
 * answered for is listed as unreachable: what runs in it is unknown, which must never read as dead.
 */
export const listTmux = async (request: TmuxRequest): Promise<TmuxListing> => {
  const spoken = (request.sockets ?? []).map(socketOfTmuxVariable).filter(path => path !== null);
  const hinted = request.servers.flatMap(s => (s.socketHint ? [hintToPath(s.socketHint, request)] : []));
  const sockets = findSockets(request.uid, request.env, [...spoken, ...hinted]);
  const env = childEnv(request.env);
  const answers = await askAll(sockets, env, request.timeoutMs ?? TIMEOUT_MS);

  const servers: TmuxServer[] = [];
  const warnings: string[] = [];
  if (answers.some(a => a.kind === 'no-tmux'))
    warnings.push('tmux is not installed or not in PATH: the panes of running tmux servers are unknown.');
  for (const answer of answers) {
    if (answer.kind === 'server') servers.push(answer.server);
    if (answer.kind === 'silent') servers.push(answer.server);
  }
  warnings.push(...silenceOf(answers));
  const answered = new Set(servers.map(s => s.pid));
  for (const { pid, socketHint } of request.servers) {
    if (answered.has(pid)) continue;
    const socket = socketHint === undefined ? '' : hintToPath(socketHint, request);
    const known = servers.findIndex(s => s.pid === null && s.socket === socket);
    const entry: TmuxServer = { socket, pid, reachable: false, panes: [] };
    if (known === -1) servers.push(entry);
    else servers[known] = entry;
  }
  return { servers, warnings };
};
