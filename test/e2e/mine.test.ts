import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { REAPTOP, reaptop } from '../support/cli.ts';
import { orphan } from '../support/orphan.ts';
import { childrenOf, isRunning } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

/**
 * A stand-in for claude with a Bash tool: what a line of its standard input asks for runs in a shell as claude starts
 * one, with a call in its transcript before and a result after it; with `&` before it, in the background.
 */
const AGENT = `#!/usr/bin/env node
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const [session] = process.argv.slice(2);
const home = process.env.HOME;
const start = fs.readFileSync('/proc/self/stat', 'latin1').replace(/^.*\\) /s, '').split(' ')[19];
const directory = home + '/.claude/projects/' + process.cwd().replace(/[^A-Za-z0-9]/g, '-');
fs.mkdirSync(directory, { recursive: true });
fs.mkdirSync(home + '/.claude/sessions', { recursive: true });
fs.writeFileSync(home + '/.claude/sessions/' + process.pid + '.json', JSON.stringify({ pid: process.pid,
  sessionId: session, procStart: start, cwd: process.cwd(), kind: 'interactive', status: 'busy' }));
const write = line => fs.appendFileSync(directory + '/' + session + '.jsonl',
  JSON.stringify({ timestamp: new Date().toISOString(), ...line }) + '\\n');
write({ type: 'user', message: { role: 'user', content: 'go' } });
let count = 0;
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const behind = line.startsWith('&');
  const id = 'toolu_' + ++count;
  const use = () => write({ type: 'assistant', message: { id: 'msg_1', role: 'assistant', model: 'm', content: [
    { type: 'tool_use', id, name: 'Bash', input: {} }] } });
  const result = () => write({ type: 'user', message: { role: 'user', content: [
    { type: 'tool_result', tool_use_id: id, content: '' }] } });
  use();
  const child = spawn('/bin/bash', ['-c', 'source ' + home + '/.claude/shell-snapshots/snapshot-bash-1.sh 2>/dev/null || true && eval ' +
    "'" + line.replace(/^&/, '').replaceAll("'", "'\\\\''") + "'" + ' < /dev/null && pwd -P >| /dev/null'],
    { stdio: ['ignore', 'ignore', 'ignore'], detached: true,
      env: { ...process.env, CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: session, CLAUDE_PID: String(process.pid) } });
  if (behind) result();
  else child.on('exit', result);
});
`;

interface Shown {
  readonly mine: { readonly pid: number | null; readonly sessionId: string };
  readonly totals: { readonly related: number };
  readonly processes: readonly {
    readonly pid: number;
    readonly name: string;
    readonly verdict: string;
    readonly ports: readonly number[] | null;
  }[];
}

const startSession = () => {
  const id = randomUUID();
  const program = sandbox.write('bin/claude', AGENT, 0o755);
  const { pid, child } = sandbox.start([program, id], { stdio: 'pipe' });
  let asked = 0;
  const say = (line: string): void => {
    child.stdin!.write(`${line}\n`);
  };
  /** What a command of its Bash tool prints. */
  const bash = async (command: string): Promise<string> => {
    asked += 1;
    const to = sandbox.path(`work/${id}-${asked}`);
    say(`${command} > ${to}.part 2>&1; echo "exit $?" >> ${to}.part; mv ${to}.part ${to}`);
    await until(`the answer to ${command}`, () => existsSync(to));
    return readFileSync(to, 'utf8');
  };
  const background = async (command: string): Promise<number> => {
    const before = new Set(childrenOf(pid).map(p => p.pid));
    say(`&${command}`);
    const shell = await until('a shell', () => childrenOf(pid).find(p => !before.has(p.pid)));
    await until('what it runs', () => childrenOf(shell.pid)[0]);
    return shell.pid;
  };
  return { id, pid, say, bash, background };
};

const parsed = (text: string): Shown => JSON.parse(text.replace(/exit \d+\n$/, '')) as Shown;

describe('--once --mine', () => {
  test('shows what the calling session started and left, with ports, and nothing of another one', async () => {
    const mine = startSession();
    const other = startSession();
    const shell = await mine.background('sleep 4001; :');
    const server = sandbox.write(
      'bin/serve.js',
      "require('node:http').createServer().listen(0, '127.0.0.1', function () { require('node:fs').writeFileSync(process.argv[2], String(this.address().port)); });",
    );
    const told = sandbox.path('work/port');
    await mine.background(`${process.execPath} ${server} ${told}; :`);
    await other.background('sleep 4002; :');
    const left = await orphan(sandbox, 'sleep 4003', { CLAUDECODE: '1', CLAUDE_CODE_SESSION_ID: mine.id });
    const port = Number(await until('the port', () => (existsSync(told) ? readFileSync(told, 'utf8') : '')));

    const shown = parsed(await mine.bash(`${REAPTOP} --once --mine --json`));
    expect(shown.mine).toEqual({ pid: mine.pid, sessionId: mine.id });
    const pids = shown.processes.map(({ pid }) => pid);
    expect(pids).toContain(shell);
    expect(pids).toContain(left.pid);
    expect(pids).not.toContain(other.pid);
    for (const { pid } of childrenOf(other.pid)) expect(pids).not.toContain(pid);
    expect(shown.processes.find(({ ports }) => ports?.includes(port))).toBeDefined();
    // The agent, two shells, what they run, and what was left: not the shell that asked.
    expect(pids.length).toBe(6);

    const text = await mine.bash(`COLUMNS=200 ${REAPTOP} --once --mine`);
    expect(text).toContain(`claude (${mine.pid}), session ${mine.id.slice(0, 8)}: 5 processes of its own`);
    expect(text).toContain(`:${port}`);
    expect(text).toContain('(background)');
    expect(text).not.toContain('4002');
  });

  test('outside of a session it says so, with the exit code of a usage error', async () => {
    const { code, stderr } = await reaptop(sandbox, ['--once', '--mine']);
    expect(code).toBe(2);
    expect(stderr).toContain('--mine is for the shell of an agent');
  });
});

describe('clean --mine', () => {
  test('ends the background shells of the calling session, and nothing of another one', async () => {
    const mine = startSession();
    const other = startSession();
    const shell = await mine.background('sleep 4011; :');
    const theirs = await other.background('sleep 4012; :');
    const dry = await mine.bash(`${REAPTOP} clean --mine`);
    expect(dry).toContain(String(shell));
    expect(isRunning(shell)).toBe(true);
    const done = await mine.bash(`${REAPTOP} clean --mine --force`);
    expect(done).toContain('exit 0');
    await until('the shell to be gone', () => !isRunning(shell));
    expect(isRunning(theirs)).toBe(true);
    expect(isRunning(mine.pid)).toBe(true);
  });

  test('while another command of it runs, no shell is ended: it is not known which is whose', async () => {
    const mine = startSession();
    const shell = await mine.background('sleep 4021; :');
    mine.say('sleep 4022; :');
    await until('two shells', () => childrenOf(mine.pid).length === 2);
    const done = await mine.bash(`${REAPTOP} clean --mine --force`);
    expect(done).toContain('its background shells are left alone: 2 commands of claude');
    expect(isRunning(shell)).toBe(true);
    expect(childrenOf(mine.pid).length).toBe(2);
  });

  test('a session that is only named by the environment loses no shell', async () => {
    const mine = startSession();
    const shell = await mine.background('sleep 4031; :');
    const env = { CLAUDE_CODE_SESSION_ID: mine.id };
    const { stdout } = await reaptop(sandbox, ['clean', '--mine', '--force'], { env });
    expect(stdout).toContain('reaptop does not run below the session that it asks about');
    expect(isRunning(shell)).toBe(true);
  });
});
