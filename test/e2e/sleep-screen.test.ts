import { afterEach, beforeEach, expect, it } from 'vitest';
import { startIdle } from '../support/idle-agent.ts';
import { isRunning } from '../support/proc.ts';
import { KEY, Pty } from '../support/pty.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const open = (): Pty => new Pty(sandbox, { columns: 140, rows: 40, args: ['--interval', '0.5'] });

it('f on the row of an idle session puts it to sleep, and Enter in the Asleep panel types its command', async () => {
  const one = await startIdle(sandbox);
  const pty = open();
  await pty.shows('idle 2h');
  await pty.select('claude');
  pty.press('f');
  await pty.shows('Put to sleep', `claude --resume ${one.session}`);
  await pty.confirm();
  await pty.shows('Done');
  expect(isRunning(one.agent.pid, one.agent.start)).toBe(false);
  pty.press(KEY.escape);
  await pty.shows(/Asleep 1/);
  // Findings, then, if there are no heartbeats to see, the sleepers.
  pty.press(KEY.tab);
  pty.press(KEY.tab);
  pty.press(KEY.tab);
  await pty.shows(/asleep .*enter: wake/);
  pty.press(KEY.enter);
  await pty.shows('press Enter there');
  await until('the command in its pane', () => one.screen().includes(`claude --resume ${one.session}`));
  one.type('Enter');
  await until('its conversation', () => one.screen().includes('resumed: true'));
  await until('the panel to go', () => !pty.text().includes('Asleep 1'));
});

it('the plan of x on an idle session offers to keep the way back', async () => {
  const one = await startIdle(sandbox);
  const pty = open();
  await pty.shows('idle 2h');
  await pty.select('claude');
  pty.press('x');
  await pty.shows('End: ', 'tab: sleep: end it, keep the way back');
  pty.press(KEY.tab);
  await pty.shows('Put to sleep', `claude --resume ${one.session}`, 'tab: end it without a way back instead');
  pty.press(KEY.escape);
  expect(isRunning(one.agent.pid, one.agent.start)).toBe(true);
});
