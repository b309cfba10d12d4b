import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { buildHolder, takeBuildLock } from '../../../src/act/hooks/build-lock.ts';
import type { Identity } from '../../../src/model/identity.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { holder, NOW } from './build-holders.ts';

/** What others do just before, and just after, a lock is read for the nth time. */
const others = vi.hoisted(() => ({
  reads: 0,
  before: {} as Record<number, () => void>,
  after: {} as Record<number, () => void>,
}));
vi.mock('../../../src/observe/procfs/kin.ts', () => ({
  isRunning: ({ pid }: Identity) => pid === 10 || pid === 20,
}));
vi.mock('../../../src/observe/state/own-file.ts', async original => {
  const real = await original<typeof import('../../../src/observe/state/own-file.ts')>();
  return {
    ...real,
    readOwnTail: (path: string, limit: number) => {
      if (!path.endsWith('.json')) return real.readOwnTail(path, limit);
      others.reads += 1;
      const read = others.reads;
      others.before[read]?.();
      const text = real.readOwnTail(path, limit);
      others.after[read]?.();
      return text;
    },
  };
});

/** Two versions of reaptop that run side by side must mean the same file. */
const NAME = '017df269d6e7537f.json';

let sandbox: Sandbox;
let directory: string;
let path: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state');
  path = join(directory, 'locks', NAME);
  expect(take(11).status).toBe('taken');
  Object.assign(others, { reads: 0, before: {}, after: {} });
});
afterEach(() => sandbox.close());

const take = (pid: number) => takeBuildLock(directory, holder(pid), NOW);
const files = () => readdirSync(join(directory, 'locks'));

test('a lock keeps its name from version to version', () => {
  expect(files()).toEqual([NAME]);
});

test('one that another gave back just now is simply taken', () => {
  others.before = { 1: () => rmSync(path) };
  expect(take(20).status).toBe('taken');
  expect(others.reads).toBe(1);
});

test('a fresh one, that took the place of the stale one in between, stays', () => {
  others.before = { 2: () => writeFileSync(path, JSON.stringify(holder(10))) };
  expect(take(20)).toEqual({ status: 'held', holder: holder(10) });
  expect(buildHolder(directory, '/work/project', NOW)).toEqual(holder(10));
  expect(files()).toEqual([NAME]);
});

test('while one breaks it nobody else does, however often he tries', () => {
  let second: unknown;
  others.before = {
    2: () => {
      second = take(10);
      expect(others.reads).toBe(2 + 4);
    },
  };
  expect(take(20)).toEqual({ status: 'taken', left: [] });
  expect(second).toEqual({ status: 'unavailable', why: 'too many processes want it at once' });
  expect(files()).toEqual([NAME]);
});

test.each(['', '.break'])('whose file%s somebody takes away in the middle is taken all the same', ending => {
  others.after = { 2: () => rmSync(`${path}${ending}`) };
  expect(take(20).status).toBe('taken');
  expect(files()).toEqual([NAME]);
});
