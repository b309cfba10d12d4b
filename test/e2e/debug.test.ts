import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CLI } from '../support/cli.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

/** Something that nobody foresaw, far down in the program. */
const crashed = (env: NodeJS.ProcessEnv): string => {
  const trap = sandbox.write('trap.cjs', "process.getuid = () => { throw new Error('a trap'); };");
  const { status, stderr } = spawnSync(process.execPath, ['-r', trap, CLI, '--once'], {
    env: { ...sandbox.env, ...env },
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/^reaptop: a trap$/m);
  return stderr;
};

it('REAPTOP_DEBUG=1 says where it happened, in the source as it was written', () => {
  expect(crashed({ REAPTOP_DEBUG: '1' })).toMatch(/ at .*\/src\/observe\/procfs\/system\.ts:\d+:\d+/);
});

it('otherwise it is one sentence', () => {
  expect(crashed({}).trimEnd().split('\n')).toHaveLength(1);
});
