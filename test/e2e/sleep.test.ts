import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditLines } from '../support/audit.ts';
import { reaptop } from '../support/cli.ts';
import { startGuard } from '../support/guard.ts';
import { AT_PROMPT, type IdleAgent, startIdle } from '../support/idle-agent.ts';
import { isRunning, type RawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const runs = ({ pid, start }: RawProcess): boolean => isRunning(pid, start);
const STATE = 'home/.local/state/reaptop';
const asleepFile = (): string => sandbox.path(STATE, 'asleep.jsonl');

interface Line {
  state: string;
  agent: string;
  id: string;
  pid: number | null;
  bytes: number;
  resume: string | null;
  cwd: string;
}
const sessions = async (): Promise<Line[]> => {
  const { stdout, code, stderr } = await reaptop(sandbox, ['sessions', '--json']);
  if (code !== 0) throw new Error(stderr);
  return (JSON.parse(stdout) as { sessions: Line[] }).sessions;
};
const stateOf = async ({ session }: IdleAgent): Promise<string[]> =>
  (await sessions()).filter(({ id }) => id === session).map(({ state }) => state);
/** Who got a SIGTERM: the stand-in writes it down. */
const terms = (): string => {
  try {
    return readFileSync(sandbox.path('home/terms'), 'utf8');
  } catch {
    return '';
  }
};
const slept = async (one: IdleAgent, ...more: string[]): Promise<string> => {
  const { stdout, stderr } = await reaptop(sandbox, ['sleep', one.session.slice(0, 8), '--force', ...more]);
  await until('the prompt of its shell', () => AT_PROMPT.test(one.screen().trimEnd()));
  return stdout + stderr;
};
const back = (one: IdleAgent): Promise<unknown> =>
  until('the conversation', () => one.screen().includes('resumed: true'));

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

describe('wake', () => {
  it('types the command into the old pane, and enters it only with --run', async () => {
    const one = await startIdle(sandbox);
    await slept(one);
    const typed = await reaptop(sandbox, ['wake', one.session.slice(0, 8)]);
    expect(typed.stdout).toContain('where it was: press Enter there');
    await until('the command', () => one.screen().includes(`claude --resume ${one.session}`));
    expect(one.screen()).not.toContain('resumed: true');
    expect(await stateOf(one)).toEqual(['asleep']);
    one.type('C-u');
    await until('an empty prompt', () => AT_PROMPT.test(one.screen().trimEnd()));
    const run = await reaptop(sandbox, ['wake', one.session, '--run']);
    expect(run.stdout).toMatch(/awake as claude \(\d+\) in tmux work %\d+, where it was/);
    await back(one);
    expect(await stateOf(one)).toEqual(['running']);
    expect(auditLines(sandbox).filter(({ by }) => by === 'wake')).toMatchObject([
      { event: 'intent' },
      { sessions: [{ act: 'wake', outcome: 'done' }] },
      { event: 'intent' },
      { sessions: [{ act: 'wake', outcome: 'done' }] },
    ]);
  });

  it('with --all brings back every session that was put to sleep, and no other', async () => {
    const names = ['one', 'two', 'three', 'four', 'five'];
    const all = await Promise.all(names.map(name => startIdle(sandbox, name, { beside: true })));
    const busy = await startIdle(sandbox, 'busy', { status: 'busy' });
    const before = await sessions();
    const { stdout } = await reaptop(sandbox, ['sleep', '--idle', '1h', '--force']);
    expect(stdout).toMatch(/5 ended, about [\d.]+ MiB freed/);
    expect(all.filter(({ agent }) => runs(agent))).toEqual([]);
    expect(runs(busy.agent)).toBe(true);
    for (const one of all)
      await until('the prompt of its shell', () => AT_PROMPT.test(one.screen().trimEnd()));
    const woken = await reaptop(sandbox, ['wake', '--all', '--run']);
    expect(woken.stdout.match(/awake as claude \(\d+\) in tmux \w+ %\d+, where it was/g)).toHaveLength(5);
    expect(woken.code).toBe(0);
    for (const one of all) await back(one);
    const after = await sessions();
    expect(after.map(({ id, state }) => `${id} ${state}`).sort()).toEqual(
      before.map(({ id }) => `${id} running`).sort(),
    );
    expect(runs(busy.agent)).toBe(true);
  });

  it('opens a window when another program is in front in the old pane', async () => {
    const one = await startIdle(sandbox);
    await slept(one);
    // It reads key by key, and looks like a shell.
    sandbox.write(
      'bin/asks',
      '#!/usr/bin/env node\nprocess.stdin.setRawMode(true).resume();\nprocess.stdout.write("\\n$ ");\n',
      0o755,
    );
    one.type('asks', 'Enter');
    await until('the program', () => /^\$ ?$/m.test(one.screen()));
    const { stdout } = await reaptop(sandbox, ['wake', one.session]);
    expect(stdout).toContain('a new window');
    const panes = sandbox.tmux('list-panes', '-s', '-t', '=work', '-F', '#{pane_id}').split('\n');
    expect(panes.length).toBe(2);
    expect(one.screen()).not.toContain('cd ');
    expect(sandbox.tmux('capture-pane', '-p', '-t', panes[1]!)).toContain(`claude --resume ${one.session}`);
  });

  it('opens a window when something is half typed in the old pane', async () => {
    const one = await startIdle(sandbox);
    await slept(one);
    one.type('rm -rf ', '');
    await until('what is typed', () => one.screen().includes('rm -rf'));
    const { stdout } = await reaptop(sandbox, ['wake', one.session]);
    expect(stdout).toContain('a new window');
    expect(sandbox.tmux('capture-pane', '-p', '-t', '=work:0')).not.toContain('rm -rf cd');
  });

  it('types nothing into a pane of another server with the same number', async () => {
    const one = await startIdle(sandbox);
    await slept(one);
    sandbox.tmux('kill-server');
    await until('the end of the server', () => !runs({ ...one.agent, pid: one.shell } as RawProcess));
    // The old one may still be on its way out, and takes the new session with it.
    await until('another server', () => {
      sandbox.tmux('new-session', '-d', '-s', 'work', '-x', '150', 'exec bash --norc --noprofile');
      return true;
    });
    const { stdout } = await reaptop(sandbox, ['wake', one.session]);
    expect(stdout).toContain('a new window');
  });

  it('prints the command where there is no tmux', async () => {
    const one = await startIdle(sandbox);
    await slept(one);
    sandbox.tmux('kill-server');
    const { stdout, stderr, code } = await reaptop(sandbox, ['wake', one.session]);
    expect(stdout).toBe(`cd ${sandbox.path('work')} && claude --resume ${one.session}\n`);
    expect(stderr).toContain('no tmux session');
    expect(code).toBe(0);
  });

  it('is not needed for a session that was resumed by hand: it leaves the list by itself', async () => {
    const one = await startIdle(sandbox);
    await slept(one);
    expect(await stateOf(one)).toEqual(['asleep']);
    one.type(`claude --resume ${one.session}`, 'Enter');
    await back(one);
    await until('it to be running', async () => (await stateOf(one)).join() === 'running');
    const { stderr, code } = await reaptop(sandbox, ['wake', one.session]);
    expect(stderr).toContain('is awake');
    expect(code).toBe(2);
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
