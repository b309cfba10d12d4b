import childProcess from 'node:child_process';
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isRunning } from '../../support/proc.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const spawnForReal = childProcess.spawn;
/** What node gives when it is out of descriptors: a child without pipes, which never says 'close'. */
let pipe: null | undefined;
const spawnWithoutPipes = (() =>
  Object.assign(new EventEmitter(), { stdout: pipe })) as unknown as typeof spawnForReal;

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(async () => {
  vi.restoreAllMocks();
  childProcess.spawn = spawnForReal;
  await sandbox.close();
});

/** As it is when it is loaded for the first time, with this way to start a program. */
const load = async () => {
  childProcess.spawn = spawnWithoutPipes;
  return (await import('../../../src/act/portable/tree-kill.ts')).treeKill;
};

test('without descriptors it still signals the process itself, and leaves spawn as it was', async () => {
  for (pipe of [undefined, null]) {
    const { pid } = sandbox.start([sandbox.sleeper('alone'), '1000']);
    const treeKill = await load();
    expect(await treeKill(pid, 'SIGKILL')).toBe('done');
    expect(childProcess.spawn).toBe(spawnWithoutPipes);
    await until('its end', () => !isRunning(pid));
  }
});

test('a signal that the system refuses is told', async () => {
  const { pid } = sandbox.start([sandbox.sleeper('guarded'), '1000']);
  const treeKill = await load();
  const refused = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
  });
  expect(await treeKill(pid, 'SIGTERM')).toBe('denied');
  refused.mockRestore();
  expect(isRunning(pid)).toBe(true);
});
