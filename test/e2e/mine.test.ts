import { existsSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { REAPTOP, reaptop } from '../support/cli.ts';
import { orphan } from '../support/orphan.ts';
import { childrenOf, isRunning } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { startShellAgent } from '../support/shell-agent.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

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

const parsed = (text: string): Shown => JSON.parse(text.replace(/exit \d+\n$/, '')) as Shown;

describe('--once --mine', () => {
  test('shows what the calling session started and left, with ports, and nothing of another one', async () => {
    const mine = startShellAgent(sandbox);
    const other = startShellAgent(sandbox);
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

  test('what runs in a work tree that was removed is shown as left over, and no verdict is the stronger for it', async () => {
    const mine = startShellAgent(sandbox);
    sandbox.write('tree/file', '');
    const shell = await mine.background(`cd ${sandbox.path('tree')}; sleep 4005; :`);
    const job = await until('the job', () => childrenOf(shell).find(p => p.comm === 'sleep'));
    const where = (): string => readlinkSync(`/proc/${job.pid}/cwd`);
    await until('its directory', () => where() === sandbox.path('tree'));
    rmSync(sandbox.path('tree'), { recursive: true });
    const text = await mine.bash(`COLUMNS=200 ${REAPTOP} --once --mine`);
    expect(text).toMatch(new RegExp(` ${job.pid} .* live .*sleep \\(its directory was removed\\)`));
    const shown = parsed(await mine.bash(`${REAPTOP} --once --mine --json`));
    expect(shown.processes.find(({ pid }) => pid === job.pid)).toMatchObject({
      verdict: 'live',
      why: expect.arrayContaining([expect.stringContaining('directory it runs in was removed')]),
    });
  });

  test('outside of a session it says so, with the exit code of a usage error', async () => {
    const { code, stderr } = await reaptop(sandbox, ['--once', '--mine']);
    expect(code).toBe(2);
    expect(stderr).toContain('--mine is for the shell of an agent');
  });
});

describe('clean --mine', () => {
  test('ends the background shells of the calling session, and nothing of another one', async () => {
    const mine = startShellAgent(sandbox);
    const other = startShellAgent(sandbox);
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
    const mine = startShellAgent(sandbox);
    const shell = await mine.background('sleep 4021; :');
    mine.say('sleep 4022; :');
    await until('two shells', () => childrenOf(mine.pid).length === 2);
    const done = await mine.bash(`${REAPTOP} clean --mine --force`);
    expect(done).toContain('its background shells are left alone: 2 commands of claude');
    expect(isRunning(shell)).toBe(true);
    // The shell that asked ends by itself.
    await until('the two shells alone', () => childrenOf(mine.pid).length === 2);
  });

  test('a session that is only named by the environment loses no shell', async () => {
    const mine = startShellAgent(sandbox);
    const shell = await mine.background('sleep 4031; :');
    const env = { CLAUDE_CODE_SESSION_ID: mine.id };
    const { stdout } = await reaptop(sandbox, ['clean', '--mine', '--force'], { env });
    expect(stdout).toContain('reaptop does not run below the session that it asks about');
    expect(isRunning(shell)).toBe(true);
  });
});
