import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { TmuxPane, TmuxServer } from '../model/observation.ts';
import { redactWord, safeText } from '../model/redact.ts';
import { visible } from '../model/text.ts';
import { runCommand } from './run-command.ts';

export interface TmuxRequest {
  readonly uid: number;
  readonly env: NodeJS.ProcessEnv;
  /** tmux server processes of this user seen in the process table; `socketHint`: their `-S` path or `-L` name. */
  readonly servers: readonly { readonly pid: number; readonly socketHint?: string | undefined }[];
  /** `$TMUX` values, or plain socket paths, seen in environments. */
  readonly sockets?: readonly string[];
  /** For all of them together. */
  readonly timeoutMs?: number;
  /** Nothing else is done meanwhile: tmux is waited for, which spares its streams (4 ms of a start of 50). */
  readonly alone?: boolean;
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

type Ask = (socket: string, env: NodeJS.ProcessEnv, timeoutMs: number) => Answer | Promise<Answer>;

/** A tmux for each dead socket would be a child process for nothing. */
const askWhoAccepts = async (
  socket: string,
  env: NodeJS.ProcessEnv,
  until: number,
  ask: Ask,
): Promise<Answer> => {
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
  alone: boolean,
): Promise<Answer[]> => {
  if (alone && sockets.length === 1) return [askWaiting(sockets[0]!, env, timeoutMs)];
  const until = performance.now() + timeoutMs;
  const ask = alone ? askWaiting : askBeside;
  const answers: Answer[] = [];
  const waiting = sockets.entries();
  const worker = async (): Promise<void> => {
    for (const [at, socket] of waiting) answers[at] = await askWhoAccepts(socket, env, until, ask);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return answers;
};

interface Run {
  readonly stdout: string;
  readonly stderr: string;
  /** null: it ended well. */
  readonly failed: 'missing' | 'timeout' | { readonly why: string } | null;
}

const answerOf = (socket: string, { stdout, stderr, failed }: Run): Answer => {
  if (failed === null) {
    const { serverPid, panes } = parsePanes(socket, stdout);
    return { kind: 'server', server: { socket, pid: serverPid, reachable: true, panes } };
  }
  if (failed === 'missing') return { kind: 'no-tmux' };
  if (failed === 'timeout') return silentAt(socket, 'did not answer in time');
  if (STALE.test(stderr)) return { kind: 'stale' };
  return silentAt(socket, stderr.trim().split('\n')[0] || failed.why || 'gave no answer');
};

const wordsFor = (socket: string): string[] => ['-u', '-S', socket, 'list-panes', '-a', '-F', PANE_FORMAT];

const LIMITS = { killSignal: 'SIGKILL', maxBuffer: 16 * 1024 ** 2, encoding: 'utf8' } as const;

const askBeside: Ask = (socket, env, timeoutMs) =>
  new Promise(answer => {
    // Loaded here and not at the top: it costs 5 ms of a start that may take 30, and most machines run no tmux.
    const { execFile } = process.getBuiltinModule('node:child_process');
    execFile('tmux', wordsFor(socket), { ...LIMITS, env, timeout: timeoutMs }, (error, stdout, stderr) => {
      const why = { why: error?.message.split('\n')[0] ?? '' };
      const ended = error?.killed === true ? 'timeout' : error === null ? null : why;
      answer(answerOf(socket, { stdout, stderr, failed: error?.code === 'ENOENT' ? 'missing' : ended }));
    });
  });

const askWaiting = (socket: string, env: NodeJS.ProcessEnv, timeoutMs: number): Answer => {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  const run = spawnSync('tmux', wordsFor(socket), { ...LIMITS, env, timeout: timeoutMs });
  const code = (run.error as NodeJS.ErrnoException | undefined)?.code;
  const ended =
    code === 'ETIMEDOUT' ? 'timeout' : run.status === 0 ? null : { why: run.error?.message ?? '' };
  const failed = code === 'ENOENT' ? 'missing' : ended;
  return answerOf(socket, { stdout: run.stdout ?? '', stderr: run.stderr ?? '', failed });
};

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
  const answers = await askAll(sockets, env, request.timeoutMs ?? TIMEOUT_MS, request.alone === true);

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

/**
 * One line per pane. Colons separate because tmux never allows one in a session name and
 * no other field before the title can hold one; the title comes last and may hold anything.
 * A tab would do too, but in a C locale tmux prints every control character as `_`.
 */
const FIELDS = [
  'session_id',
  'window_id',
  'window_index',
  'pane_id',
  'pane_pid',
  'pane_tty',
  'pane_dead',
  'window_activity',
  'session_attached',
  'pid',
  'session_group',
  'session_name',
  'pane_title',
] as const;
type Field = (typeof FIELDS)[number];

export const PANE_FORMAT = FIELDS.map(name => `#{${name}}`).join(':');

export interface PaneListing {
  readonly serverPid: number | null;
  readonly panes: readonly TmuxPane[];
}

const splitLine = (line: string): Record<Field, string> | null => {
  const parts = line.split(':');
  if (parts.length < FIELDS.length) return null;
  const title = parts.slice(FIELDS.length - 1).join(':');
  const values = [...parts.slice(0, FIELDS.length - 1), title];
  return Object.fromEntries(FIELDS.map((name, i) => [name, values[i] ?? ''])) as Record<Field, string>;
};

const count = (text: string): number | null => (/^\d{1,15}$/.test(text) ? Number(text) : null);

const toPane = (socket: string, f: Record<Field, string>): TmuxPane | null => {
  const pid = count(f.pane_pid);
  if (pid === null || !f.pane_id.startsWith('%') || !f.session_id.startsWith('$')) return null;
  return {
    socket,
    sessionId: f.session_id,
    session: visible(redactWord(f.session_name)),
    windowId: f.window_id,
    window: count(f.window_index) ?? 0,
    pane: f.pane_id,
    pid,
    // As the process table names it: without /dev/.
    tty: f.pane_tty === '' ? null : f.pane_tty.replace(/^\/dev\//, ''),
    dead: f.pane_dead === '1',
    title: visible(redactWord(f.pane_title)),
    activity: count(f.window_activity),
    attached: (count(f.session_attached) ?? 0) > 0,
  };
};

/**
 * Grouped and linked sessions list a pane once each: it is kept once, under the session it was made in
 * (which gave the group its name), and counts as attached when any of them is.
 */
export const parsePanes = (socket: string, output: string): PaneListing => {
  const panes = new Map<string, TmuxPane>();
  let serverPid: number | null = null;
  for (const line of output.split('\n')) {
    const fields = splitLine(line);
    const pane = fields === null ? null : toPane(socket, fields);
    if (fields === null || pane === null) continue;
    serverPid ??= count(fields.pid);
    const known = panes.get(pane.pane);
    const kept = known === undefined || fields.session_group === fields.session_name ? pane : known;
    panes.set(pane.pane, { ...kept, attached: pane.attached || known?.attached === true });
  }
  return { serverPid, panes: [...panes.values()] };
};

/** The directory in which tmux keeps a user's named sockets. */
export const socketDirectory = (uid: number, env: NodeJS.ProcessEnv): string =>
  join(env.TMUX_TMPDIR || '/tmp', `tmux-${uid}`);

const namedSockets = (directory: string, uid: number): string[] => {
  try {
    // /tmp is everybody's: a directory of this name that another user made is not ours to talk to.
    const owner = lstatSync(directory);
    if (!owner.isDirectory() || owner.uid !== uid) return [];
    return readdirSync(directory).map(name => join(directory, name));
  } catch {
    return []; // no tmux server was ever started here
  }
};

/** The real path of a socket that belongs to the user; null for anything else. */
const ownSocket = (path: string, uid: number): string | null => {
  try {
    const real = realpathSync(path);
    const stat = statSync(real);
    return stat.isSocket() && stat.uid === uid ? real : null;
  } catch {
    return null; // vanished, or a link that leads nowhere
  }
};

/** `$TMUX` is `<socket>,<server pid>,<session>`; a path may itself hold commas. */
export const socketOfTmuxVariable = (value: string): string | null =>
  /^(\/.*),\d+,\d+$/s.exec(value)?.[1] ?? (isAbsolute(value) && !value.includes(',') ? value : null);

/** Every socket of the user worth asking: the named ones and those that environments speak of, each once. */
const findSockets = (uid: number, env: NodeJS.ProcessEnv, extra: readonly string[]): string[] => {
  // Sockets that processes name first: they are in use, and there may be no time for others.
  const candidates = [...[...extra].sort(), ...namedSockets(socketDirectory(uid, env), uid).sort()];
  const found = new Set<string>();
  for (const path of candidates) {
    const socket = ownSocket(path, uid);
    if (socket !== null) found.add(socket);
  }
  return [...found];
};

/** What is behind a socket file: a server, nothing any more, or unknown. */
export type Acceptance = 'accepts' | 'stale' | { readonly silent: string };

/** The kernel's words for a socket file whose server is gone. */
const STALE_SOCKET: ReadonlySet<string | undefined> = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'ENOTSOCK',
  'EPROTOTYPE',
]);

/** Connects and hangs up. A stale socket file costs some microseconds this way, and a child process otherwise. */
const whetherAccepts = (socket: string, timeoutMs: number): Promise<Acceptance> =>
  new Promise(answer => {
    // Loaded here and not at the top: most machines run no tmux, and a start is short.
    const { connect } = process.getBuiltinModule('node:net');
    const client = connect(socket);
    const finish = (found: Acceptance): void => {
      clearTimeout(timer);
      client.destroy();
      answer(found);
    };
    const timer = setTimeout(() => finish({ silent: 'does not accept' }), timeoutMs);
    client.on('connect', () => finish('accepts'));
    client.on('error', (error: NodeJS.ErrnoException) =>
      finish(STALE_SOCKET.has(error.code) ? 'stale' : { silent: error.code ?? error.message }),
    );
  });

const PEEK_TIMEOUT_MS = 2000;
const PEEK_LINES = 12;

/** The last lines that a pane shows, made harmless; a sentence when tmux does not give them. */
export const peekAtPane = async (
  { socket, pane }: { readonly socket: string; readonly pane: string },
  env: NodeJS.ProcessEnv,
): Promise<readonly string[] | string> => {
  if (!/^%\d+$/.test(pane)) return 'This process is not in a tmux pane.';
  const result = await runCommand('tmux', ['-u', '-S', socket, 'capture-pane', '-p', '-t', pane], {
    timeoutMs: PEEK_TIMEOUT_MS,
    env,
  });
  if (result.status === 'missing') return 'tmux is not in PATH.';
  if (result.status !== 'done') return 'tmux does not answer.';
  if (result.code !== 0) return `Pane ${pane} is gone.`;
  const lines = result.stdout.split('\n').map(line => safeText(line.trimEnd()));
  const last = lines.findLastIndex(line => line !== '');
  return lines.slice(Math.max(0, last + 1 - PEEK_LINES), last + 1);
};
