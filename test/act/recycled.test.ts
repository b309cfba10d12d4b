import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const canUnshare = spawnSync('unshare', ['-fp', '--mount-proc', 'true']).status === 0;

// Where no pid namespace can be made, contract.test.ts shows the same through the system contract.
test.skipIf(!canUnshare)(
  'a pid really reused between plan and signal: the stranger with the same argv lives',
  async () => {
    const bundle = sandbox.path('inside.mjs');
    await build({
      entryPoints: [fileURLToPath(new URL('./recycled-inside.ts', import.meta.url))],
      outfile: bundle,
      bundle: true,
      platform: 'node',
      format: 'esm',
      logLevel: 'silent',
    });
    // A shell is PID 1 there, so that reaptop is not below pid 3 and has a parent.
    const inside = spawnSync(
      'unshare',
      ['-fp', '--mount-proc', 'sh', '-c', `"${process.execPath}" "${bundle}"; exit $?`],
      {
        env: sandbox.env,
        encoding: 'utf8',
        timeout: 20_000,
      },
    );
    expect(inside.stderr).toBe('');
    expect(JSON.parse(inside.stdout)).toMatchObject({
      planned: 1,
      samePid: true,
      strangerLives: true,
      outcomes: [{ outcome: 'gone', freed: 0, why: expect.stringContaining('names another process now') }],
    });
  },
);
