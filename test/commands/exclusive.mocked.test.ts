import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exclusive } from '../../src/commands/exclusive.ts';
import { Sandbox } from '../support/sandbox.ts';

/** Looks at the machine at the moment the command is to be started, before the lock can name it. */
const starting = vi.hoisted(() => ({ look: () => {} }));
vi.mock('../../src/act/children/run-child.ts', () => ({
  runChild: async () => {
    starting.look();
    return { code: 0, why: null };
  },
}));

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
  sandbox.write('work/lean-toolchain', 'leanprover/lean4:v4.27.0');
});
afterEach(() => sandbox.close());

const run = () =>
  exclusive(
    ['sh'],
    { waitMs: 0, key: null },
    {
      env: { HOME: sandbox.home },
      cwd: sandbox.path('work'),
      err: { write: (text: string) => expect(text).toBe('') },
    },
  );
const besideOf = (): unknown => {
  const locks = join(sandbox.home, '.local/state/reaptop/locks');
  const [name] = readdirSync(locks).filter(entry => entry.endsWith('.json'));
  return JSON.parse(readFileSync(join(locks, name!), 'utf8')).beside;
};

test('killed before its command has begun, it leaves no empty lock that the next knows nothing of', async () => {
  const empty = sandbox.path('work/.diagnostic-lock');
  let noted: unknown = 'never looked';
  starting.look = () => {
    expect(existsSync(empty)).toBe(true);
    noted = besideOf();
  };
  expect(await run()).toBe(0);
  expect(noted).toEqual([empty]);
  expect(existsSync(empty)).toBe(false);
});
