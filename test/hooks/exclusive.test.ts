import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { exclusive } from '../../src/hooks/exclusive.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
  sandbox.write('work/lean-toolchain', 'leanprover/lean4:v4.27.0');
});
afterEach(() => sandbox.close());

/** Runs a command that stays inside until `look` has looked. */
const runWhile = async (look: () => unknown): Promise<number> => {
  const code = exclusive(
    ['sh', '-c', ': > inside; while [ ! -e looked ]; do sleep 0.02; done'],
    { waitMs: 0, key: null },
    {
      env: { ...sandbox.env, HOME: sandbox.home },
      cwd: sandbox.path('work'),
      ignoresHangup: false,
      err: { write: (text: string) => expect(text).toBe('') },
    },
  );
  try {
    await until('the command to be inside', () => existsSync(sandbox.path('work/inside')));
    await look();
  } finally {
    sandbox.write('work/looked', '');
  }
  return code;
};
const besideOf = (): unknown => {
  const locks = join(sandbox.home, '.local/state/reaptop/locks');
  const [name] = readdirSync(locks).filter(entry => entry.endsWith('.json'));
  return JSON.parse(readFileSync(join(locks, name!), 'utf8')).beside;
};

test('killed before its command has begun, it leaves no empty lock that the next knows nothing of', async () => {
  const empty = sandbox.path('work/.diagnostic-lock');
  let noted: unknown = 'never looked';
  const code = await runWhile(() => {
    expect(existsSync(empty)).toBe(true);
    noted = besideOf();
  });
  expect(code).toBe(0);
  expect(noted).toEqual([empty]);
  expect(existsSync(empty)).toBe(false);
});

test('neither its lock nor the empty one beside it is ever older than 30 s while the command runs', async () => {
  const begun = new Date('2026-01-27T12:00:00Z').getTime();
  vi.useFakeTimers({ now: begun, toFake: ['Date', 'setInterval', 'clearInterval'] });
  let oldest = 0;
  const look = async () => {
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
    expect(await runWhile(look)).toBe(0);
  } finally {
    vi.useRealTimers();
  }
  expect(oldest).toBeGreaterThan(0);
  expect(oldest).toBeLessThan(30_000);
});
