import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { childrenOf, type RawProcess, rawProcess } from './proc.ts';
import type { Sandbox } from './sandbox.ts';
import { until } from './until.ts';

/**
 * A stand-in for claude that calls a tool, and behaves like it where reaptop looks: it registers as busy, writes the
 * call to its transcript, goes on with a result when its server ends, and is interrupted by Escape.
 */
const AGENT = `#!/usr/bin/env node
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const [session, tool, server] = process.argv.slice(2);
const home = process.env.HOME;
const start = fs.readFileSync('/proc/self/stat', 'latin1').replace(/^.*\\) /s, '').split(' ')[19];
const slug = process.cwd().replace(/[^A-Za-z0-9]/g, '-');
const transcript = home + '/.claude/projects/' + slug + '/' + session + '.jsonl';
fs.mkdirSync(require('node:path').dirname(transcript), { recursive: true });
fs.mkdirSync(home + '/.claude/sessions', { recursive: true });
const status = word => {
  const file = home + '/.claude/sessions/' + process.pid + '.json';
  const text = JSON.stringify({ pid: process.pid, sessionId: session, procStart: start, cwd: process.cwd(),
    kind: 'interactive', status: word, statusUpdatedAt: Date.now() });
  fs.writeFileSync(file + '.new', text);
  fs.renameSync(file + '.new', file);
};
const write = line => fs.appendFileSync(transcript, JSON.stringify({ timestamp: new Date().toISOString(), ...line }) + '\\n');
const result = content => write({ type: 'user', message: { role: 'user', content } });
let told = false;
const serve = () => {
  const child = spawn(server, [], { stdio: ['pipe', 'ignore', 'ignore'] });
  child.on('exit', () => {
    if (told) return;
    told = true;
    result([{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Error: Connection closed' }]);
    process.stdout.write('the agent goes on\\n');
  });
};
if (server !== undefined) serve();
status(process.env.AGENT_STATUS || 'busy');
write({ type: 'user', message: { role: 'user', content: 'go' } });
write({ type: 'assistant', message: { id: 'msg_1', role: 'assistant', model: 'claude-opus-5-5',
  usage: { input_tokens: 142000 }, content: [{ type: 'tool_use', id: 'toolu_1', name: tool, input: {} }] } });
// A program in the background that reads from its terminal is stopped.
if (process.stdin.isTTY && !process.env.AGENT_BEHIND) process.stdin.setRawMode(true);
if (!process.env.AGENT_BEHIND) process.stdin.on('data', key => {
  process.stdout.write('key ' + JSON.stringify(String(key)) + '\\n');
  if (String(key) !== '\\u001b' || process.env.AGENT_DEAF) return;
  told = true;
  result([{ type: 'text', text: '[Request interrupted by user for tool use]' }]);
  status('idle');
});
setInterval(() => {}, 1 << 30);
`;

export interface CallingAgent {
  readonly agent: RawProcess;
  readonly server: RawProcess;
  /** The name of its tmux session. */
  readonly session: string;
  readonly transcript: () => string;
  /** When its call began, epoch milliseconds. */
  readonly startedAt: () => number;
  readonly screen: () => string;
}

export interface CallingOptions {
  readonly tool?: string;
  /** The program of its server, in the sandbox's bin. */
  readonly server?: string;
  /** What its own file says that it does. */
  readonly status?: string;
  /** Escape does nothing. */
  readonly deaf?: boolean;
  /** Another program is in front in its pane. */
  readonly behind?: boolean;
}

/** In a tmux session of its own, waiting for its call. */
export const startCalling = async (
  sandbox: Sandbox,
  name = 'work',
  {
    tool = 'mcp__lean-lsp__lean_goal',
    server = 'lean-lsp-mcp',
    status = 'busy',
    deaf = false,
    behind = false,
  }: CallingOptions = {},
): Promise<CallingAgent> => {
  const id = randomUUID();
  const program = sandbox.write('bin/claude', AGENT, 0o755);
  const serving = sandbox.script(server);
  const env = [
    '-e',
    `AGENT_STATUS=${status}`,
    ...(deaf ? ['-e', 'AGENT_DEAF=1'] : []),
    ...(behind ? ['-e', 'AGENT_BEHIND=1'] : []),
  ];
  const run = `${program} ${id} ${tool} ${serving}`;
  const paned = Number(
    sandbox.tmux(
      ...['new-session', '-d', '-P', '-F', '#{pane_pid}', '-s', name, '-x', '100', '-y', '30'],
      ...[
        '-c',
        sandbox.path('work'),
        ...env,
        behind ? `bash -c 'set -m; ${run} & exec sleep 600'` : `exec ${run}`,
      ],
    ),
  );
  const slug = sandbox.path('work').replace(/[^A-Za-z0-9]/g, '-');
  const transcript = (): string => {
    try {
      return readFileSync(sandbox.path('home/.claude/projects', slug, `${id}.jsonl`), 'utf8');
    } catch {
      return '';
    }
  };
  await until('the call to be written down', () => transcript().includes('tool_use'));
  const pid = behind
    ? (await until('the agent behind', () => childrenOf(paned).find(p => p.state !== 'Z'))).pid
    : paned;
  const below = await until('its server', () => childrenOf(pid).find(p => p.comm === server.slice(0, 15)));
  return {
    agent: rawProcess(pid)!,
    server: below,
    session: id,
    transcript,
    startedAt: () => Date.parse(/"timestamp":"([^"]+)","type":"assistant"/.exec(transcript())?.[1] ?? ''),
    screen: () => sandbox.tmux('capture-pane', '-p', '-t', `=${name}:`),
  };
};
