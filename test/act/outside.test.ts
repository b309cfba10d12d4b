import { chmodSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { stopBackgroundSession } from '../../src/act/stop-claude-session.ts';
import { endTmuxSession } from '../../src/act/tmux.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

describe('tmux sessions', () => {
  const start = (name: string) => {
    sandbox.tmux('new-session', '-d', '-s', name, 'sleep 600');
    const [id, socket] = sandbox
      .tmux('display-message', '-p', '-t', `=${name}:`, '#{session_id} #{socket_path}')
      .split(' ');
    return { socket: socket!, sessionId: id!, session: name };
  };
  const names = () => sandbox.tmux('list-sessions', '-F', '#{session_name}').split('\n').sort();

  test.each(['C', 'C.UTF-8'])(
    'exactly the session is ended, not one whose name begins the same (%s)',
    async LC_ALL => {
      const env = { ...sandbox.env, LC_ALL };
      const target = start('agent');
      start('agent-2');
      expect(await endTmuxSession(target, env)).toEqual({ status: 'ended' });
      expect(names()).toEqual(['agent-2']);
      expect(await endTmuxSession(target, env)).toEqual({ status: 'gone' });
      expect(names()).toEqual(['agent-2']);
    },
  );

  test('never the session we sit in', async () => {
    const target = start('mine');
    const pane = sandbox.tmux('display-message', '-p', '-t', '=mine:', '#{pane_id}');
    const env = { ...sandbox.env, TMUX: `${target.socket},1,0`, TMUX_PANE: pane };
    expect(await endTmuxSession(target, env)).toMatchObject({
      status: 'refused',
      why: expect.stringContaining('reaptop itself sits in'),
    });
    expect(names()).toEqual(['mine']);
  });

  test('not when the id is none, or names another session by now', async () => {
    const target = start('work');
    expect(await endTmuxSession({ ...target, sessionId: 'work' }, sandbox.env)).toMatchObject({
      status: 'refused',
    });
    sandbox.tmux('rename-session', '-t', '=work', 'other');
    expect(await endTmuxSession(target, sandbox.env)).toMatchObject({
      status: 'refused',
      why: expect.stringContaining('no longer'),
    });
    expect(names()).toEqual(['other']);
  });

  test('a server that is gone is gone', async () => {
    sandbox.needsTmux();
    expect(
      await endTmuxSession({ socket: sandbox.path('none'), sessionId: '$0', session: 'x' }, sandbox.env),
    ).toEqual({ status: 'gone' });
  });
});

describe('claude stop', () => {
  const withClaude = (script: string) => {
    sandbox.write('bin/claude', `#!/bin/sh\n${script}\n`, 0o755);
    return { env: { ...sandbox.env, PATH: `${sandbox.path('bin')}:${process.env.PATH}` } };
  };

  test('is run with the id as one argument', async () => {
    const options = withClaude(`printf '%s|' "$@" > ${sandbox.path('args')}`);
    expect(await stopBackgroundSession('ab12cd34', options)).toEqual({ status: 'stopped' });
    expect(readFileSync(sandbox.path('args'), 'utf8')).toBe('stop|ab12cd34|');
  });

  test('a failure comes back with what claude said', async () => {
    expect(await stopBackgroundSession('x1', withClaude('echo "no such session" >&2; exit 1'))).toEqual({
      status: 'failed',
      why: 'claude stop x1 exited with 1: no such session',
    });
  });

  test('returns only the first line of what claude printed, shortened', async () => {
    const fails = async (script: string) =>
      ((await stopBackgroundSession('x1', withClaude(`${script}; exit 3`))) as { why: string }).why;
    expect(await fails('true')).toBe('claude stop x1 exited with 3');
    expect(await fails('echo "  on stdout"; echo more')).toBe('claude stop x1 exited with 3: on stdout');
    expect(await fails('printf "\\n  no\\nmore\\n" >&2')).toBe('claude stop x1 exited with 3: no');
    expect(await fails('printf "%0300d" 0')).toBe(`claude stop x1 exited with 3: ${'0'.repeat(200)}`);
  });

  test('one that hangs is given up', async () => {
    const options = { ...withClaude('exec sleep 600'), timeoutMs: 100 };
    expect(await stopBackgroundSession('x1', options)).toMatchObject({
      status: 'failed',
      why: 'claude stop x1 did not answer within 0.1 s',
    });
  });

  test('one that cannot be run says why', async () => {
    const options = withClaude('exit 0');
    chmodSync(sandbox.path('bin/claude'), 0o644);
    expect(await stopBackgroundSession('x1', { env: { PATH: sandbox.path('bin') } })).toEqual({
      status: 'failed',
      why: expect.stringMatching(/^claude stop x1 could not be run: .+/),
    });
    expect(options.env.PATH).toContain(sandbox.path('bin'));
  });

  test('without claude in PATH, the user is told what to run', async () => {
    expect(await stopBackgroundSession('x1', { env: { PATH: sandbox.path('bin') } })).toMatchObject({
      status: 'failed',
      why: expect.stringContaining('claude is not in PATH'),
    });
  });

  test.each(['--all', '', 'a b', '../x', '$(id)'])('%j is no id', async id => {
    expect(await stopBackgroundSession(id)).toMatchObject({
      status: 'failed',
      why: expect.stringContaining('is not the id'),
    });
  });
});
