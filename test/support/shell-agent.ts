import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { childrenOf } from './proc.ts';
import type { Sandbox } from './sandbox.ts';
import { until } from './until.ts';

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

/** That stand-in, running in the sandbox. */
export const startShellAgent = (sandbox: Sandbox) => {
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
