import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exclusive } from '../../src/commands/exclusive.ts';
import { Sandbox } from '../support/sandbox.ts';

/** Looks at the machine while the command runs. */
const starting = vi.hoisted(() => ({ look: (): unknown => null }));
vi.mock('../../src/act/children/run-child.ts', () => ({
  runChild: async () => {
    await starting.look();
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

test('neither its lock nor the empty one beside it is ever older than 30 s while the command runs', async () => {
  const begun = new Date('2026-01-27T12:00:00Z').getTime();
  vi.useFakeTimers({ now: begun, toFake: ['Date', 'setInterval', 'clearInterval'] });
  let oldest = 0;
  starting.look = async () => {
    const locks = join(sandbox.home, '.local/state/reaptop/locks');
    const files = [
      ...readdirSync(locks).map(name => join(locks, name)),
      sandbox.path('work/.diagnostic-lock'),
    ];
    expect(files).toHaveLength(2);
    for (const path of files) utimesSync(path, new Date(begun), new Date(begun));
    for (let second = 1; second <= 120; second += 1) {
      await vi.advanceTimersByTimeAsync(1000);
      for (const path of files) oldest = Math.max(oldest, Date.now() - statSync(path).mtimeMs);
    }
  };
  try {
    expect(await run()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
  expect(oldest).toBeGreaterThan(0);
  expect(oldest).toBeLessThan(30_000);
});
