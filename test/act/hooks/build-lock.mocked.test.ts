import { closeSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type BuildHolder,
  buildHolder,
  isHeld,
  openBuildLock,
  parseHolder,
  releaseBuildLock,
  takeBuildLock,
  touchBuildLock,
  underLock,
} from '../../../src/act/hooks/build-lock.ts';
import type { Identity } from '../../../src/model/identity.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { holder, MINUTE, NOW } from './build-holders.ts';

/** Who runs on this machine; null: nobody can tell. */
const running = vi.hoisted(() => ({
  pids: new Set<number>() as Set<number> | null,
  /** What still runs under a lock, by its nonce. */
  carriers: {} as Record<string, readonly Identity[]>,
}));
vi.mock('../../../src/observe/procfs/kin.ts', () => ({
  isRunning: ({ pid }: Identity) => running.pids?.has(pid) ?? null,
  identityAt: (pid: number) => ({ pid, start: `s${pid}` }),
  bootId: () => 'boot',
  pidNamespace: () => 'pid:[1]',
}));
vi.mock('../../../src/observe/procfs/lock-carriers.ts', () => ({
  LOCKS_VARIABLE: 'REAPTOP_LOCKS',
  lockCarriers: (nonce: string) => running.carriers[nonce] ?? [],
}));

let sandbox: Sandbox;
let directory: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state');
  running.pids = new Set([10, 20]);
  running.carriers = {};
});
afterEach(() => {
  vi.restoreAllMocks();
  return sandbox.close();
});
const file = (): string => {
  const [name] = readdirSync(join(directory, 'locks')).filter(entry => entry.endsWith('.json'));
  return join(directory, 'locks', name!);
};
const take = (pid: number, part: Partial<BuildHolder> = {}) =>
  takeBuildLock(directory, holder(pid, part), NOW);

describe('a lock keeps others out', () => {
  /** Last touched `age` milliseconds ago. */
  const held = (one: BuildHolder, age = 0, path = '/none'): boolean =>
    isHeld(one, { text: '', mtimeMs: NOW - age }, path, NOW);
  const exclusive = (pid: number, part: Partial<BuildHolder> = {}): BuildHolder =>
    holder(pid, { by: 'exclusive', since: 0, ...part });

  test.each<[string, BuildHolder, boolean]>([
    ['while its holder runs', holder(10), true],
    ['not when that has ended', holder(11), false],
    ['not a tool call of half an hour ago', holder(10, { since: NOW - 30 * MINUTE }), false],
    ['but one a little younger', holder(10, { since: NOW - 30 * MINUTE + 1 }), true],
    ['not one from ahead of time', holder(10, { since: NOW + MINUTE }), false],
    ['but one of a clock that differs a little', holder(10, { since: NOW + MINUTE - 1 }), true],
    ['and `exclusive` for as long as it takes', exclusive(10), true],
    ['not `exclusive` when nothing is left of it', exclusive(11), false],
  ])('%s', (_, one, expected) => expect(held(one)).toBe(expected));

  test('while anything runs that was started under it, though its holder has ended', () => {
    running.carriers = { n11: [{ pid: 77, start: 's77' }] };
    expect([held(exclusive(11)), held(exclusive(11, { nonce: 'another' }))]).toEqual([true, false]);
    running.carriers = { '': [{ pid: 77, start: 's77' }] };
    expect(held(exclusive(11, { nonce: '' }))).toBe(false);
  });

  test.each([
    [0, true],
    [10 * MINUTE - 1, true],
    [10 * MINUTE, false],
    [-MINUTE + 1, true],
    [-MINUTE, false],
  ])('of a tool call %d ms old where nobody can tell who runs: %s', (age, expected) => {
    expect(held(holder(11, { since: NOW - age, namespace: 'pid:[2]' }))).toBe(expected);
    running.pids = null;
    expect(held(holder(10, { since: NOW - age }))).toBe(expected);
  });

  test.each([
    [59_999, true],
    [60_000, false],
    [-60_000, false],
  ])('of `exclusive` touched %d ms ago where nobody can tell who runs: %s', (age, expected) => {
    expect(held(exclusive(11, { boot: 'other' }), age)).toBe(expected);
    running.pids = null;
    expect(held(exclusive(10), age)).toBe(expected);
  });

  test('of another pid namespace for as long as the kernel has a lock on its file', () => {
    const other = exclusive(11, { namespace: 'pid:[2]' });
    expect(takeBuildLock(directory, other, NOW).status).toBe('taken');
    const fd = openBuildLock(directory, other)!;
    const untouched = 10 * MINUTE;
    expect(held(other, untouched, file())).toBe(true);
    closeSync(fd);
    expect(held(other, untouched, file())).toBe(false);
  });
});

test('what runs under a lock carries its nonce, and those of locks around it', () => {
  expect(underLock({ A: '1' }, holder(10))).toEqual({ A: '1', REAPTOP_LOCKS: 'n10' });
  expect(underLock(underLock({}, holder(10)), holder(20))).toEqual({ REAPTOP_LOCKS: 'n10 n20' });
});

describe('what a lock says', () => {
  test('comes back as it was written', () => {
    const full = holder(10, { session: null, toolUseId: null, beside: ['/a'] });
    expect(parseHolder(JSON.stringify(full))).toEqual(full);
    for (const by of ['hook', 'exclusive'] as const)
      expect(parseHolder(JSON.stringify(holder(10, { by })))).toEqual(holder(10, { by }));
  });

  test.each<[object]>([
    [{ pid: 1.5 }],
    [{ start: 1 }],
    [{ by: 'somebody' }],
    [{ key: null }],
    [{ session: 1 }],
    [{ toolUseId: 1 }],
    [{ what: null }],
    [{ since: 'now' }],
  ])('is nothing with %j', part => {
    expect(parseHolder(JSON.stringify({ ...holder(10), ...part }))).toBeNull();
  });

  test('is nothing when it was cut short; of the rest only what makes sense is taken', () => {
    for (const text of ['', '{"pid": 1', 'null', '7']) expect(parseHolder(text)).toBeNull();
    const odd = { ...holder(10), beside: ['/a', 7, null] };
    expect(parseHolder(JSON.stringify(odd))).toEqual(holder(10, { beside: ['/a'] }));
    expect(parseHolder(JSON.stringify({ ...odd, beside: 'x' }))).toEqual(holder(10));
    expect(parseHolder(JSON.stringify({ ...odd, beside: null }))).toEqual(holder(10));
  });
});

describe('the lock of a project', () => {
  test('is taken by one, for this user alone, and held against the other until it is given back', () => {
    expect(take(10)).toEqual({ status: 'taken', left: [] });
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(take(20)).toEqual({ status: 'held', holder: holder(10) });
    expect(buildHolder(directory, '/work/project', NOW)).toEqual(holder(10));
    releaseBuildLock(directory, holder(20));
    expect(take(20).status).toBe('held');
    releaseBuildLock(directory, holder(10));
    expect(buildHolder(directory, '/work/project', NOW)).toBeNull();
    expect(take(20).status).toBe('taken');
    expect(readdirSync(join(directory, 'locks'))).toHaveLength(1);
  });

  test.each<[string, Partial<BuildHolder>]>([
    ['of another session', { session: 'two' }],
    ['of another call', { toolUseId: 'other' }],
    ['of another process', { pid: 20 }],
    ['of another with its number', { start: 'new' }],
    ['that took another of the same process', { nonce: 'new' }],
  ])('is not given back by one %s', (_, part) => {
    take(10);
    releaseBuildLock(directory, holder(10, part));
    expect(take(20).status).toBe('held');
  });

  test('is given back also by who knows only the session', () => {
    take(10);
    releaseBuildLock(directory, { key: '/work/project', session: 'one' });
    expect(buildHolder(directory, '/work/project', NOW)).toBeNull();
  });

  test('is another one for another project', () => {
    take(10);
    for (const key of ['/work/projecT', '/work/projec', '/work/project/x', ''])
      expect(take(20, { key }).status).toBe('taken');
    expect(readdirSync(join(directory, 'locks'))).toHaveLength(5);
  });

  test('is taken over from one that has ended, with what lies beside it', () => {
    take(10, { beside: ['/work/.diagnostic-lock'] });
    running.pids?.delete(10);
    expect(buildHolder(directory, '/work/project', NOW)).toBeNull();
    expect(take(20)).toEqual({ status: 'taken', left: ['/work/.diagnostic-lock'] });
    expect(readdirSync(join(directory, 'locks'))).toHaveLength(1);
    writeFileSync(file(), 'torn');
    expect(take(10)).toEqual({ status: 'taken', left: [] });
  });

  test('says when it was last touched', () => {
    take(10);
    touchBuildLock(directory, '/work/project', new Date(NOW));
    expect(statSync(file()).mtimeMs).toBe(NOW);
    rmSync(file());
    touchBuildLock(directory, '/work/project', new Date(NOW));
    expect(openBuildLock(directory, holder(10))).toBeNull();
    expect(readdirSync(join(directory, 'locks'))).toEqual([]);
  });

  test('stays when its holder gives it back while something that was started under it runs', () => {
    take(10, { by: 'exclusive' });
    running.carriers = { n10: [{ pid: 77, start: 's77' }] };
    releaseBuildLock(directory, holder(10));
    running.pids?.delete(10);
    // Whoever has to wait is told of one that runs.
    expect(take(20)).toMatchObject({ status: 'held', holder: { pid: 77, start: 's77' } });
    expect(buildHolder(directory, '/work/project', NOW)).toMatchObject({ pid: 77, what: 'lean_build' });
    running.carriers = {};
    expect(take(20).status).toBe('taken');
  });

  test('can be had by nobody where it cannot be written, and holds nobody up where it cannot be read', () => {
    expect(takeBuildLock('/proc/reaptop', holder(10), NOW)).toEqual({
      status: 'unavailable',
      why: expect.any(String),
    });
    take(10);
    const path = file();
    rmSync(path);
    mkdirSync(path);
    expect(buildHolder(directory, '/work/project', NOW)).toBeNull();
    releaseBuildLock(directory, holder(10));
    expect(take(10)).toEqual({ status: 'unavailable', why: expect.any(String) });
  });

  test('keeps its file name from version to version', () => {
    take(10);
    expect(readdirSync(join(directory, 'locks'))).toEqual(['017df269d6e7537f.json']);
  });
});
