import { randomUUID } from 'node:crypto';
import { childrenOf, type RawProcess, rawProcess } from './proc.ts';
import type { Sandbox } from './sandbox.ts';
import { until } from './until.ts';

/**
 * A stand-in for claude that has nothing to do, and behaves like it where reaptop looks: it registers its session, has a
 * transcript and a server, ends by SIGTERM with both, and shows the conversation again when it is resumed.
 */
const AGENT = `#!/usr/bin/env node
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const words = process.argv.slice(2);
const home = process.env.HOME;
const value = flag => words.includes(flag) ? words[words.indexOf(flag) + 1] : null;
const session = value('--resume') || value('--session-id');
const start = fs.readFileSync('/proc/self/stat', 'latin1').replace(/^.*\\) /s, '').split(' ')[19];
const transcript = home + '/.claude/projects/' + process.cwd().replace(/[^A-Za-z0-9]/g, '-') + '/' + session + '.jsonl';
const record = home + '/.claude/sessions/' + process.pid + '.json';
fs.mkdirSync(path.dirname(transcript), { recursive: true });
fs.mkdirSync(path.dirname(record), { recursive: true });
const status = (word, at = Date.now() - 7200000) => {
  fs.writeFileSync(record + '.new', JSON.stringify({ pid: process.pid, sessionId: session, procStart: start,
    cwd: process.cwd(), kind: 'interactive', status: word, statusUpdatedAt: at, name: 'p1-87' }));
  fs.renameSync(record + '.new', record);
};
const write = line => fs.appendFileSync(transcript, JSON.stringify({ timestamp: new Date().toISOString(), ...line }) + '\\n');
const server = process.env.AGENT_SERVER;
const child = server ? spawn(server, [], { stdio: ['pipe', 'ignore', 'ignore'] }) : null;
if (words.includes('--resume')) process.stdout.write('resumed: ' + fs.readFileSync(transcript, 'utf8').includes('the word is quince') + '\\n');
else {
  write({ type: 'user', message: { role: 'user', content: 'the word is quince' } });
  write({ type: 'assistant', message: { id: 'msg_1', role: 'assistant', model: 'claude-opus-5-5', usage: { input_tokens: 1 }, content: [{ type: 'text', text: 'ok' }] } });
}
process.stdout.write('at its prompt\\n');
if (process.stdin.isTTY) process.stdin.setRawMode(true);
process.stdin.on('data', () => {});
process.on('SIGTERM', () => {
  fs.appendFileSync(home + '/terms', process.pid + '\\n');
  if (process.env.AGENT_DEAF) return;
  fs.rmSync(record, { force: true });
  process.stdout.write('Resume this session with: claude --resume ' + session + '\\n');
  process.exit(143);
});
status(process.env.AGENT_STATUS || 'idle');
// It begins to work when somebody says, in the audit log, that it is to be ended.
if (process.env.AGENT_WAKES) setInterval(() => {
  if (fs.existsSync(process.env.AGENT_WAKES)) status('busy', Date.now());
}, 20);
setInterval(() => {}, 1 << 30);
`;

/** It ends with its client, as servers over stdio do. */
const SERVER = "#!/usr/bin/env node\nprocess.stdin.on('end', () => process.exit()).resume();\n";

/** bash at its prompt, of a user or of root. */
export const AT_PROMPT = /[$#]$/;

export interface IdleAgent {
  readonly agent: RawProcess;
  readonly session: string;
  /** The name of its tmux session. */
  readonly name: string;
  /** The shell that it was started from. */
  readonly shell: number;
  readonly children: () => readonly RawProcess[];
  readonly screen: () => string;
  readonly type: (...keys: string[]) => void;
}

export interface IdleOptions {
  /** What its own file says that it does. */
  readonly status?: string;
  /** The program of its server, in the sandbox's bin; null: none. */
  readonly server?: string | null;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: string;
  /** Another pane is in its window, so that only its own file tells since when it is idle. */
  readonly beside?: boolean;
}

/** In a shell of a tmux session of its own, as a person starts it. */
export const startIdle = async (
  sandbox: Sandbox,
  name = 'work',
  { status = 'idle', server = 'mcp-server-memory', env = {}, flags = '', beside = false }: IdleOptions = {},
): Promise<IdleAgent> => {
  sandbox.write('bin/claude', AGENT, 0o755);
  const session = randomUUID();
  const bin = sandbox.path('bin');
  const variables: Record<string, string> = {
    ...env,
    AGENT_STATUS: status,
    ...(server === null ? {} : { AGENT_SERVER: sandbox.write(`bin/${server}`, SERVER, 0o755) }),
  };
  const shell = Number(
    sandbox.tmuxWith(
      { PATH: `${bin}:${process.env.PATH}` },
      'reaptop-test',
      ...['new-session', '-d', '-P', '-F', '#{pane_pid}', '-s', name, '-x', '150', '-y', '30'],
      ...['-c', sandbox.path('work')],
      ...Object.entries(variables).flatMap(([key, value]) => ['-e', `${key}=${value}`]),
      'exec bash --norc --noprofile',
    ),
  );
  if (beside) sandbox.tmux('split-window', '-d', '-t', `=${name}:`, 'exec sleep 600');
  const type = (...keys: string[]): void => {
    sandbox.tmux('send-keys', '-t', `=${name}:`, ...keys);
  };
  const screen = (): string => sandbox.tmux('capture-pane', '-p', '-t', `=${name}:`);
  await until('the shell', () => AT_PROMPT.test(screen().trimEnd()));
  type(`claude --session-id ${session} ${flags}`.trim(), 'Enter');
  const agent = await until('the agent at its prompt', () =>
    screen().includes('at its prompt') ? childrenOf(shell).find(p => p.state !== 'Z') : undefined,
  );
  if (server !== null) await until('its server', () => childrenOf(agent.pid).length > 0);
  return {
    agent: rawProcess(agent.pid)!,
    session,
    name,
    shell,
    children: () => childrenOf(agent.pid),
    screen,
    type,
  };
};
