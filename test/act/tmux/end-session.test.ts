import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { endTmuxSession } from '../../../src/act/tmux.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { DONE, FAILED, HUNG, ScriptedTmux } from './scripted-tmux.ts';

const TARGET = { socket: '/t/a,b/sock', sessionId: '$3', session: 'agent_a' };
const ENV = { HOME: '/home/me' };
const PANES = DONE('agent_a\t%1\nagent_a\t%2\n');

let sandbox: Sandbox;
let tmux: ScriptedTmux;
beforeEach(() => {
  sandbox = new Sandbox();
  tmux = new ScriptedTmux(sandbox);
  tmux.answers();
});
afterEach(() => sandbox.close());
const end = (env: NodeJS.ProcessEnv = {}, target = TARGET) =>
  tmux.outcome(() => endTmuxSession(target, { PATH: tmux.PATH, ...env }));

describe('a session', () => {
  test('is listed, then ended by its id on its own server', async () => {
    tmux.answers(PANES, DONE(''));
    expect(await end(ENV)).toEqual({ status: 'ended' });
    expect(tmux.environ(0)).toMatchObject(ENV);
    expect(tmux.asked()).toEqual([
      `-u -S ${TARGET.socket} list-panes -s -t $3 -F #{session_name}\t#{pane_id}`,
      `-u -S ${TARGET.socket} kill-session -t $3`,
    ]);
  });

  test.each([
    ['a server that hangs', HUNG, { status: 'failed', why: expect.stringContaining('does not answer') }],
    ['no such session', FAILED, { status: 'gone' }],
    ['another one by now', DONE('agent_b\t%1'), { status: 'refused', why: expect.stringContaining('$3') }],
    ['one pane of another', DONE('agent_a\t%1\nb\t%2'), { status: 'refused', why: expect.any(String) }],
  ])('is not ended where there is %s', async (_, answer, result) => {
    tmux.answers(answer);
    expect(await end()).toEqual(result);
    expect(tmux.asked()).toHaveLength(1);
  });

  test('is not ended where there is no tmux', async () => {
    const nowhere = { PATH: sandbox.path('nowhere') };
    expect(await end(nowhere)).toEqual({ status: 'failed', why: 'tmux is not in PATH' });
  });

  test.each(['3', '$3 ', '$', ' $3', '$3;kill-server', '%3'])('is not called %j', async sessionId => {
    expect(await end({}, { ...TARGET, sessionId })).toMatchObject({ status: 'refused' });
    expect(tmux.asked()).toEqual([]);
  });

  test.each([
    ['ended by itself', FAILED, { status: 'gone' }],
    ['is still there', DONE(''), { status: 'failed', why: expect.stringContaining('did not end') }],
    ['cannot be asked for', HUNG, { status: 'failed', why: expect.stringContaining('did not end') }],
  ])('that tmux would not end, and that %s', async (_, has, result) => {
    // One that hangs twice would be waited for only once.
    for (const refusal of has === HUNG ? [FAILED] : [FAILED, HUNG]) {
      tmux.answers(PANES, refusal, has);
      expect(await end()).toEqual(result);
      expect(tmux.asked().at(-1)).toBe(`-u -S ${TARGET.socket} has-session -t $3`);
    }
  });
});

describe('the session that reaptop sits in', () => {
  beforeEach(() => {
    mkdirSync(sandbox.path('real'));
    writeFileSync(sandbox.path('real/sock'), '');
    symlinkSync(sandbox.path('real'), sandbox.path('link'));
  });

  test.each<[string, NodeJS.ProcessEnv, boolean]>([
    ['by its pane', { TMUX: `${TARGET.socket},9,7`, TMUX_PANE: '%2' }, true],
    ['without a pane, by its number', { TMUX: `${TARGET.socket},9,3` }, true],
    ['with another pane', { TMUX: `${TARGET.socket},9,3`, TMUX_PANE: '%9' }, false],
    ['without a pane, with another number', { TMUX: `${TARGET.socket},9,7` }, false],
    ['on another server', { TMUX: '/t/other,9,3', TMUX_PANE: '%2' }, false],
    ['in no tmux', { TMUX_PANE: '%2' }, false],
  ])('stays: %s', async (_, env, stays) => {
    tmux.answers(PANES, DONE(''));
    expect(await end(env)).toMatchObject({ status: stays ? 'refused' : 'ended' });
    expect(tmux.asked()).toHaveLength(stays ? 1 : 2);
  });

  test('stays also when its socket has two names', async () => {
    tmux.answers(PANES);
    const env = { TMUX: `${sandbox.path('link/sock')},9,3`, TMUX_PANE: '%1' };
    expect(await end(env, { ...TARGET, socket: sandbox.path('real/sock') })).toMatchObject({
      status: 'refused',
      why: 'reaptop itself sits in the tmux session agent_a',
    });
  });
});
