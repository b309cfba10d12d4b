import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyToTmux, displayInTmux } from '../../src/act/tmux.ts';
import { Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let env: NodeJS.ProcessEnv;
/** A real tmux server of our own, and an environment as in one of its panes. */
beforeEach(() => {
  sandbox = new Sandbox();
  sandbox.tmux('new-session', '-d', '-s', 'mine', '-x', '80', '-y', '24', 'sleep 600');
  const [socket, pane] = sandbox
    .tmux('display-message', '-p', '-t', '=mine:', '#{socket_path} #{pane_id}')
    .split(' ');
  env = { ...sandbox.env, LC_ALL: 'C.UTF-8', TMUX: `${socket},1,0`, TMUX_PANE: pane! };
});
afterEach(() => sandbox.close());

test.each(['1342', '-w --flag', "it's $(id) #{pane_id} “x”"])(
  '%s goes to the buffer as it is',
  async text => {
    expect(await copyToTmux(text, env)).toBe(true);
    expect(sandbox.tmux('show-buffer')).toBe(text);
  },
);

test('outside tmux, or where its server is gone, nothing is copied and nothing is said', async () => {
  expect(await copyToTmux('x', { ...env, TMUX: '' })).toBe(false);
  expect(await copyToTmux('x', { ...env, TMUX: `${sandbox.path('none')},1,0` })).toBe(false);
  await displayInTmux('x', { ...env, TMUX: `${sandbox.path('none')},1,0` });
});

test('a message stands in the status line of whoever looks, and a format in it stays text', async () => {
  sandbox.tmux('set-option', '-g', 'display-time', '0');
  const pty = new Pty(sandbox, {
    columns: 80,
    rows: 24,
    command: ['tmux', '-L', 'reaptop-test', 'attach', '-t', 'mine'],
  });
  await pty.until('tmux to be attached', () => sandbox.tmux('list-clients') !== '');
  await displayInTmux('reaptop: #{pane_id} leaked #(touch owned)', env);
  await pty.shows('reaptop: #{pane_id} leaked #(touch owned)');
  pty.process.kill();
  await pty.exited;
});
