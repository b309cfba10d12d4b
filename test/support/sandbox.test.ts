import { readFileSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Sandbox } from './sandbox.ts';

test('what is written in place of a link leaves alone what the link leads to', async () => {
  const sandbox = new Sandbox();
  const machines = sandbox.write('machine/sleep', 'of the machine');
  const path = sandbox.write('bin/other', '');
  symlinkSync(machines, sandbox.path('bin/claude'));
  sandbox.write('bin/claude', 'of the test');
  expect(readFileSync(machines, 'utf8')).toBe('of the machine');
  expect(readFileSync(path.replace('other', 'claude'), 'utf8')).toBe('of the test');
  await sandbox.close();
});
