import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditLines } from '../support/audit.ts';
import { reaptop } from '../support/cli.ts';
import { startGuard } from '../support/guard.ts';
import { AT_PROMPT, startIdle } from '../support/idle-agent.ts';
import { isRunning, type RawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { sleepIn } from '../support/sleeping.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const runs = ({ pid, start }: RawProcess): boolean => isRunning(pid, start);
const STATE = 'home/.local/state/reaptop';
const asleepFile = (): string => sandbox.path(STATE, 'asleep.jsonl');

const { sessions, stateOf, terms, back } = sleepIn(() => sandbox);

describe('sleep', () => {
  it('without --force shows the plan with the way back, and ends nothing', async () => {
    const one = await startIdle(sandbox, 'work', { flags: '--dangerously-skip-permissions', beside: true });
    const { stdout, code } = await reaptop(sandbox, ['sleep', '--idle', '1h']);
    expect(stdout).toContain('put to sleep 1 session');
    expect(stdout).toContain(`claude --resume ${one.session} --dangerously-skip-permissions`);
    expect(stdout).toContain('Nothing was signalled. To run it: reaptop sleep');
    expect(code).toBe(0);
    expect(runs(one.agent)).toBe(true);
    expect(await stateOf(one)).toEqual(['running']);
    expect(terms()).toBe('');
  });

  it('ends idle sessions with their servers, and gives their memory back', async () => {
    const all = [
      await startIdle(sandbox, 'one', { beside: true }),
      await startIdle(sandbox, 'two', { beside: true }),
    ];
    const servers = all.flatMap(one => one.children());
    expect(servers.length).toBe(2);
    const { stdout, code } = await reaptop(sandbox, ['sleep', '--idle', '1h', '--force']);
    expect(stdout).toMatch(/2 ended, about [\d.]+ MiB freed/);
    expect(code).toBe(0);
    expect([...all.map(({ agent }) => agent), ...servers].filter(runs)).toEqual([]);
    const listed = await sessions();
    for (const one of all)
      expect(listed).toContainEqual(
        expect.objectContaining({
          state: 'asleep',
          agent: 'claude',
          id: one.session,
          pid: null,
          cwd: sandbox.path('work'),
          resume: `claude --resume ${one.session}`,
        }),
      );
    expect(listed.every(({ bytes }) => bytes > 1024 ** 2)).toBe(true);
    expect(statSync(asleepFile()).mode & 0o777).toBe(0o600);
    expect(auditLines(sandbox)).toMatchObject([
      { event: 'intent', by: 'sleep', sessions: [{ act: 'sleep' }, { act: 'sleep' }] },
      { event: 'outcome', outcomes: [{ outcome: 'ended' }, { outcome: 'ended' }] },
    ]);
  });

  it('leaves sessions alone that work, wait, have a shell, a child that listens or were just used', async () => {
    const busy = await startIdle(sandbox, 'busy', { status: 'busy' });
    const waits = await startIdle(sandbox, 'waits', { status: 'waiting' });
    const shell = await startIdle(sandbox, 'shell', { status: 'shell' });
    const program = 'require("node:http").createServer().listen(0, "127.0.0.1"); process.stdin.resume()';
    sandbox.write('bin/mcp-server-http', `#!/usr/bin/env node\n${program}\n`, 0o755);
    const listens = await startIdle(sandbox, 'listens', {
      server: null,
      env: { AGENT_SERVER: sandbox.path('bin/mcp-server-http') },
    });
    sandbox.write('bin/make-thing', '#!/bin/sh\nsleep 600\n', 0o755);
    const builds = await startIdle(sandbox, 'builds', {
      server: null,
      env: { AGENT_SERVER: sandbox.path('bin/make-thing') },
    });
    await until('a port', () => listens.children().length > 0);
    const { stdout } = await reaptop(sandbox, ['sleep', '--idle', '1s', '--force']);
    expect(stdout).toContain(`${busy.agent.pid}  claude: it works`);
    expect(stdout).toContain(`${waits.agent.pid}  claude: it waits for you`);
    expect(stdout).toContain(`${shell.agent.pid}  claude: a background shell of it runs`);
    expect(stdout).toMatch(new RegExp(`${listens.agent.pid}  claude: .*listens on port`));
    expect(stdout).toMatch(new RegExp(`${builds.agent.pid}  claude: .*not a server`));
    expect(stdout).toContain('Nothing to do');
    for (const { agent } of [busy, waits, shell, listens, builds]) expect(runs(agent)).toBe(true);
    expect(terms()).toBe('');
    // Their panes showed something a moment ago.
    const one = await startIdle(sandbox, 'idle');
    const again = await reaptop(sandbox, ['sleep', one.session, '--idle', '1h', '--force']);
    expect(again.stdout).toContain('idle for');
    expect(runs(one.agent)).toBe(true);
  });

  it('leaves a session alone that begins to work between the plan and the signal', async () => {
    const one = await startIdle(sandbox, 'work', {
      env: { AGENT_WAKES: sandbox.path(STATE, 'audit.jsonl') },
    });
    const told = await reaptop(sandbox, ['sleep', one.session, '--force']);
    expect(told.stdout).toContain('judged again before the signal: it works');
    expect(runs(one.agent)).toBe(true);
    expect(terms()).toBe('');
    expect(await stateOf(one)).toEqual(['running']);
    expect(auditLines(sandbox).at(-1)).toMatchObject({
      event: 'outcome',
      outcomes: [{ outcome: 'refused' }],
    });
  });

  it('never kills a session that ignores SIGTERM, and does not call it asleep', async () => {
    const one = await startIdle(sandbox, 'work', { env: { AGENT_DEAF: '1' } });
    const { stdout, code } = await reaptop(sandbox, ['sleep', one.session, '--force']);
    expect(stdout).toContain('survived');
    expect(code).toBe(4);
    expect(runs(one.agent)).toBe(true);
    expect(one.children().every(runs)).toBe(true);
    expect(await stateOf(one)).toEqual(['running']);
  });

  it('signals nothing when the way back cannot be written', async () => {
    const one = await startIdle(sandbox);
    mkdirSync(asleepFile(), { recursive: true });
    const { stdout } = await reaptop(sandbox, ['sleep', one.session, '--force']);
    expect(stdout).toContain('its way back could not be written');
    expect(runs(one.agent)).toBe(true);
    expect(terms()).toBe('');
  });

  it('names what it does not know: a session, a time, two beginnings', async () => {
    for (const [args, why] of [
      [['sleep', 'nonsense'], 'not the id or pid'],
      [['sleep', '--idle', 'soon'], '90m'],
      [['wake', 'nonsense'], 'not asleep or lost'],
      [['wake'], 'no session is asleep or lost'],
    ] as const) {
      const { code, stderr } = await reaptop(sandbox, [...args]);
      expect(stderr).toContain(why);
      expect(code).toBe(2);
    }
  });
});

describe('guard', () => {
  /** Idle after a second: this one has said for two hours that it is. */
  const guarding = (policy: object) => {
    const thresholds = { 'idle-agent': { seconds: 1 } };
    const config = sandbox.write('guard.json', JSON.stringify({ policy, thresholds }));
    return startGuard(sandbox, { args: ['--config', config] });
  };

  it('puts idle sessions to sleep when the config asks for it, warned first, and no other', async () => {
    const busy = await startIdle(sandbox, 'busy', { status: 'busy' });
    const one = await startIdle(sandbox, 'one');
    const guard = await guarding({ sleepIdle: true, warnSeconds: 1 });
    await until('it to sleep', () => !runs(one.agent));
    await until('guard to say so', () => guard.said().includes('sleepIdle: 1 ended'));
    expect(guard.said()).toContain('it is put to sleep in 1 s unless that changes');
    expect(runs(busy.agent)).toBe(true);
    expect(await stateOf(one)).toEqual(['asleep']);
    expect(terms().trim()).toBe(String(one.agent.pid));
    expect(auditLines(sandbox)).toMatchObject([
      { event: 'intent', by: 'guard', why: expect.stringContaining('put to sleep after a warning') },
      { event: 'outcome', by: 'guard' },
    ]);
  });

  it('says which sessions were lost, with their way back', async () => {
    const one = await startIdle(sandbox);
    const guard = await guarding({});
    await until('it to be seen', () => readFileSync(asleepFile(), 'utf8').includes(one.session));
    process.kill(one.agent.pid, 'SIGKILL');
    await until('guard to say so', () => guard.said().includes('lost 1 session at'));
    expect(guard.said()).toContain(`claude --resume ${one.session}`);
    expect(await stateOf(one)).toEqual(['lost']);
  });
});

describe('a session that was lost', () => {
  it('is listed with its way back when it was killed, and not when its user ended it', async () => {
    const killed = await startIdle(sandbox, 'killed');
    const ended = await startIdle(sandbox, 'ended');
    await sessions(); // they are seen
    process.kill(killed.agent.pid, 'SIGKILL');
    process.kill(ended.agent.pid, 'SIGTERM');
    await until('both to end', () => !runs(killed.agent) && !runs(ended.agent));
    const listed = await sessions();
    expect(listed.map(({ id, state }) => [id, state])).toEqual([[killed.session, 'lost']]);
    await until('the prompt of its shell', () => AT_PROMPT.test(killed.screen().trimEnd()));
    const { stdout } = await reaptop(sandbox, ['wake', killed.session, '--run']);
    expect(stdout).toContain('awake as claude');
    await back(killed);
  });
});
