import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exportScreen, jumpTo } from '../../src/engine/live-engine.ts';
import { FakeSystem } from '../act/fake-system.ts';
import { invent, snapshotOf } from '../judge/plan/machine.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => {
  vi.restoreAllMocks();
  return sandbox.close();
});

test('the screen is written where we were started', async () => {
  vi.spyOn(process, 'cwd').mockReturnValue(sandbox.path('work'));
  const path = await exportScreen('txt', 'what is seen');
  expect(dirname(path)).toBe(sandbox.path('work'));
  expect(path).toMatch(/\.txt$/);
  expect(readFileSync(path, 'utf8')).toBe('what is seen');
});

test('where nothing can be written it says so', async () => {
  vi.spyOn(process, 'cwd').mockReturnValue(sandbox.path('nowhere'));
  await expect(exportScreen('txt', 'x')).rejects.toThrow(/^Nothing was written: .+\.$/);
});

test('a pane of this machine is jumped to by its identity, one of another machine is not', async () => {
  const tmux = { socket: '/tmp/none/default', session: 's', pane: '%7' } as never;
  const shown = snapshotOf([invent(9, 1), invent(10, 1, { name: 'claude', tmux })]);
  const system = new FakeSystem();
  const target = { pid: 10, start: 's10' };
  const jump = (of: object, to = target) => jumpTo(to, shown, { system: of as never, env: {} });
  expect(await jump(system)).toMatch(/^Not inside tmux: tmux .*attach -t %7$/);
  expect(await jump({ ...system, inventedRecords: () => ({}) })).toContain('a pane of another machine');
  expect(await jump(system, { pid: 9, start: 's9' })).toContain('is not in a tmux pane');
  expect(await jump(system, { pid: 10, start: 'another' })).toBe('This process has ended.');
});
