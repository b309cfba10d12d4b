import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type BuildHolder, isHeld, parseHolder } from '../../../src/act/hooks/build-holder.ts';
import {
  buildHolder,
  describeBuildLock,
  releaseBuildLock,
  takeBuildLock,
  touchBuildLock,
} from '../../../src/act/hooks/build-lock.ts';
import type { Identity } from '../../../src/model/identity.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { holder, MINUTE, NOW } from './build-holders.ts';

/** Who runs on this machine; null: nobody can tell. */
const running = vi.hoisted(() => ({ pids: new Set<number>() as Set<number> | null }));
vi.mock('../../../src/observe/procfs/kin.ts', () => ({
  isRunning: ({ pid }: Identity) => running.pids?.has(pid) ?? null,
}));

let sandbox: Sandbox;
let directory: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state');
  running.pids = new Set([10, 20]);
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
  test.each<[string, BuildHolder, boolean]>([
    ['while its holder runs', holder(10), true],
    ['not when that has ended', holder(11), false],
    [
      'while what runs under it does, whoever holds it',
      holder(11, { child: { pid: 20, start: 's20' } }),
      true,
    ],
    ['not when that has ended, too', holder(11, { child: { pid: 21, start: 's21' } }), false],
    ['not a tool call of half an hour ago', holder(10, { since: NOW - 30 * MINUTE }), false],
    ['but one a little younger', holder(10, { since: NOW - 30 * MINUTE + 1 }), true],
    ['and `exclusive` for as long as it takes', holder(10, { by: 'exclusive', since: 0 }), true],
  ])('%s', (_, one, held) => expect(isHeld(one, NOW)).toBe(held));

  test.each([
    [0, true],
    [10 * MINUTE - 1, true],
    [10 * MINUTE, false],
    [-10 * MINUTE + 1, true],
    [-10 * MINUTE, false],
  ])('of an age of %d ms where nobody can tell who runs: %s', (age, held) => {
    running.pids = null;
    expect(isHeld(holder(10, { since: NOW - age, child: { pid: 20, start: 's20' } }), NOW)).toBe(held);
  });
});

describe('what a lock says', () => {
  test('comes back as it was written', () => {
    const full = holder(10, {
      session: null,
      toolUseId: null,
      child: { pid: 20, start: 's20' },
      beside: ['/a'],
    });
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
    const odd = { ...holder(10), child: { pid: 'x', start: 's' }, beside: ['/a', 7, null] };
    expect(parseHolder(JSON.stringify(odd))).toEqual(holder(10, { beside: ['/a'] }));
    expect(parseHolder(JSON.stringify({ ...odd, child: { pid: 1 }, beside: 'x' }))).toEqual(holder(10));
    expect(parseHolder(JSON.stringify({ ...odd, child: null, beside: null }))).toEqual(holder(10));
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
  ])('is not given back by one %s', (_, part) => {
    take(10);
    releaseBuildLock(directory, holder(10, part));
    expect(take(20).status).toBe('held');
    describeBuildLock(directory, holder(10, { ...part, what: 'changed' }));
    expect(buildHolder(directory, '/work/project', NOW)?.what).toBe('lean_build');
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

  test('says who runs under it, and since when it was last touched', () => {
    take(10);
    const child = { pid: 20, start: 's20' };
    describeBuildLock(directory, holder(10, { child }));
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual(holder(10, { child }));
    touchBuildLock(directory, '/work/project', new Date(NOW));
    expect(statSync(file()).mtimeMs).toBe(NOW);
    rmSync(file());
    touchBuildLock(directory, '/work/project', new Date(NOW));
    describeBuildLock(directory, holder(10));
    expect(existsSync(join(directory, 'locks'))).toBe(true);
    expect(readdirSync(join(directory, 'locks'))).toEqual([]);
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
    describeBuildLock(directory, holder(10));
    expect(take(10)).toEqual({ status: 'unavailable', why: expect.any(String) });
  });

  test('is broken by one at a time: a fresh breaker is waited for, an old one was killed in the middle', () => {
    vi.spyOn(Date, 'now').mockReturnValue(NOW);
    take(11);
    const breaker = `${file()}.break`;
    for (const at of [NOW, NOW - 4999, NOW + 4999]) {
      writeFileSync(breaker, JSON.stringify({ pid: 1, at }));
      expect(take(20)).toEqual({ status: 'unavailable', why: 'too many processes want it at once' });
    }
    for (const at of [NOW - 5000, NOW + 5000, 'long ago', `${NOW}`]) {
      writeFileSync(breaker, JSON.stringify({ pid: 1, at }));
      expect(take(20).status).toBe('taken');
      releaseBuildLock(directory, holder(20));
      take(11);
    }
    // Torn by a crash of the machine: it would keep everybody out for ever.
    writeFileSync(breaker, '{"pid": 1,');
    expect(take(20).status).toBe('taken');
  });
});
