import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { copyToTmux, displayInTmux, jumpToPane } from '../../../src/act/tmux.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { DONE, FAILED, HUNG, ScriptedTmux } from './scripted-tmux.ts';

/** Of the user whom we are here. */
const UID = 4001;
const SOCKET = `/nowhere/tmux-${UID}/default`;
const TARGET = { socket: SOCKET, session: 'work', pane: '%5' };
const INSIDE = { TMUX: `${SOCKET},9,3`, TMUX_PANE: '%1', TMUX_TMPDIR: '/nowhere' };
const SHOWN = 'Now showing work %5';
const BY_HAND = 'tmux attach -t %5';

let sandbox: Sandbox;
let tmux: ScriptedTmux;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  sandbox = new Sandbox();
  tmux = new ScriptedTmux(sandbox);
  tmux.answers();
  env = { ...INSIDE, PATH: tmux.PATH };
  vi.spyOn(process, 'getuid').mockReturnValue(UID);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await sandbox.close();
});
const jump = (target = TARGET): Promise<string> => tmux.outcome(() => jumpToPane(target, env));

describe('a jump', () => {
  test('within the session we sit in only selects', async () => {
    tmux.answers(DONE('$3\n'), DONE('$3\n'), DONE(''));
    expect(await jump()).toBe(SHOWN);
    const on = `-u -S ${SOCKET}`;
    expect(tmux.asked()).toEqual([
      `${on} display-message -p -t %5 #{session_id}`,
      `${on} display-message -p -t %1 #{session_id}`,
      `${on} select-window -t %5 ; select-pane -t %5`,
    ]);
  });

  test('to another session switches the terminal of ours that was used last', async () => {
    const clients = '$3 100 /dev/a\n$3 300 /dev/b\n$4 900 /dev/c\n$3 200 /dev/d\n';
    tmux.answers(DONE('$4\n'), DONE('$3\n'), DONE(clients), DONE(''), DONE(''));
    delete env.TMUX_PANE;
    expect(await jump()).toBe(SHOWN);
    expect(tmux.asked()[1]).toContain('-t $3 ');
    expect(tmux.environ(0)).toMatchObject({ TMUX: INSIDE.TMUX });
    expect(tmux.asked()[3]).toContain('switch-client -c /dev/b -t %5');
  });

  test.each([
    ['a pane that is gone', [FAILED], 'Pane %5 is gone.'],
    ['a pane of no session', [DONE('')], 'Pane %5 is gone.'],
    ['a place of ours that is gone', [DONE('$4'), FAILED], `No terminal shows this session: ${BY_HAND}`],
    [
      'nobody who looks',
      [DONE('$4'), DONE('$3'), DONE('$4 1 /dev/c')],
      `No terminal shows this session: ${BY_HAND}`,
    ],
    [
      'clients that cannot be listed',
      [DONE('$4'), DONE('$3'), HUNG],
      `No terminal shows this session: ${BY_HAND}`,
    ],
    [
      'a tmux that does not switch',
      [DONE('$4'), DONE('$3'), DONE('$3 1 /dev/c'), FAILED],
      `tmux would not switch; by hand: ${BY_HAND}`,
    ],
    [
      'a tmux that does not select',
      [DONE('$3'), DONE('$3'), HUNG],
      `tmux would not switch; by hand: ${BY_HAND}`,
    ],
  ])('with %s says what the user can do', async (_, script, said) => {
    tmux.answers(...script);
    expect(await jump()).toBe(said);
    expect(tmux.asked()).toHaveLength(script.length);
  });

  test.each([
    ['outside tmux', { ...INSIDE, TMUX: undefined }, TARGET, `Not inside tmux: ${BY_HAND}`],
    ['on another server', { ...INSIDE, TMUX: '/x,9,3' }, TARGET, `On another server: TMUX= ${BY_HAND}`],
    [
      'on a named server',
      { TMUX_TMPDIR: '/nowhere' },
      { ...TARGET, socket: SOCKET.replace('default', 'mine') },
      'Not inside tmux: tmux -L mine attach -t %5',
    ],
    [
      'on one elsewhere',
      {},
      { ...TARGET, socket: '/else/default' },
      'Not inside tmux: tmux -S /else/default attach -t %5',
    ],
  ])('%s asks nobody', async (_, outside, target, said) => {
    env = { ...outside, PATH: tmux.PATH };
    expect(await jump(target)).toBe(said);
    expect(tmux.asked()).toEqual([]);
  });
});

describe('the buffer', () => {
  test('is filled in a tmux that is too old for a clipboard', async () => {
    tmux.answers(FAILED, DONE(''));
    expect(await copyToTmux('x', env)).toBe(true);
    expect(tmux.environ(0)).toMatchObject(INSIDE);
    expect(tmux.asked()).toEqual([`-S ${SOCKET} set-buffer -w -- x`, `-S ${SOCKET} set-buffer -- x`]);
  });

  test('is not filled when tmux refuses it', async () => {
    tmux.answers(FAILED, FAILED);
    expect(await copyToTmux('x', env)).toBe(false);
  });
});

describe('a message', () => {
  test('goes to our pane, or to whatever tmux takes for it', async () => {
    tmux.answers(DONE(''), DONE(''));
    await displayInTmux('1 # 2', env);
    expect(tmux.environ(0)).toMatchObject(INSIDE);
    await displayInTmux('x', { ...env, TMUX_PANE: undefined });
    expect(tmux.asked()).toEqual([
      `-u -S ${SOCKET} display-message -t %1 -- 1 ## 2`,
      `-u -S ${SOCKET} display-message -- x`,
    ]);
  });

  test('outside tmux goes nowhere', async () => {
    await displayInTmux('x', { PATH: tmux.PATH });
    expect(await copyToTmux('x', { PATH: tmux.PATH })).toBe(false);
    expect(tmux.asked()).toEqual([]);
  });
});
