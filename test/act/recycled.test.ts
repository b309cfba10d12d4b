import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const canUnshare = spawnSync('unshare', ['-fp', '--mount-proc', 'true']).status === 0;

const inside = async (scene: string): Promise<unknown> => {
  const bundle = sandbox.path('inside.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('./recycled-inside.ts', import.meta.url))],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
  // A shell is PID 1 there, so that reaptop is not below pid 3 and has a parent, and orphans are reaped.
  const ran = spawnSync(
    'unshare',
    ['-fp', '--mount-proc', 'sh', '-c', `"${process.execPath}" "${bundle}" ${scene}; exit $?`],
    { env: sandbox.env, encoding: 'utf8', timeout: 50_000 },
  );
  expect(ran.stderr).toBe('');
  return JSON.parse(ran.stdout);
};

// Where no pid namespace can be made, contract.test.ts and newcomers.test.ts show the same through the system contract.
describe.skipIf(!canUnshare)('pids that are really reused', () => {
  test('between plan and signal: the stranger with the same argv lives', async () => {
    expect(await inside('before-the-signal')).toMatchObject({
      planned: 1,
      samePid: true,
      strangerLives: true,
      outcomes: [{ outcome: 'gone', freed: 0, why: expect.stringContaining('names another process now') }],
    });
  });

  test('by a daemon that is born into the group and session of a leak that just ended: it lives', async () => {
    expect(await inside('through-groups')).toEqual({ aimed: 25, hurt: 0, ended: 25, told: 25 });
  });
});
