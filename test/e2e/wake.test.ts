import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditLines } from '../support/audit.ts';
import { reaptop } from '../support/cli.ts';
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
const { sessions, stateOf, slept, back } = sleepIn(() => sandbox);

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
