import { closeSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OwnerState, ownerOf } from '../../src/act/record/file-lock.ts';
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
} from '../../src/hooks/exclusive-lock.ts';
import type { Identity } from '../../src/model/identity.ts';
import { lockCarriers } from '../../src/observe/lock-carriers.ts';
import { isRunning } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

const MINUTE = 60_000;
const NOW = 1_000 * MINUTE;
const PROJECT = '/work/project';

let sandbox: Sandbox;
let directory: string;
/** Two processes that build the one project. */
let one: Identity;
let two: Identity;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state');
  [one, two] = [start('one'), start('two')];
});
afterEach(() => sandbox.close());

const start = (name: string, env: Record<string, string> = {}): Identity => {
  const { pid, start: at } = sandbox.start([sandbox.sleeper(name), '1000'], { env });
  return { pid, start: at };
};
const end = async ({ pid, start: at }: Identity): Promise<void> => {
  process.kill(pid, 'SIGKILL');
  await until('its end', () => !isRunning(pid, at));
};
/** A tool call of this process. */
const holder = (of: Identity, part: Partial<BuildHolder> = {}): BuildHolder => ({
  ...ownerOf(of),
  nonce: `n${of.pid}`,
  by: 'hook',
  key: PROJECT,
  session: 'one',
  toolUseId: 'use',
  what: 'lean_build',
  since: NOW,
  ...part,
});
const file = (): string => {
  const [name] = readdirSync(join(directory, 'locks')).filter(entry => entry.endsWith('.json'));
  return join(directory, 'locks', name!);
};
const take = (of: Identity, part: Partial<BuildHolder> = {}) =>
  takeBuildLock(directory, holder(of, part), NOW);

describe('a lock keeps others out', () => {
  /** Last touched `age` milliseconds ago. */
  const held = (part: Partial<BuildHolder>, state?: OwnerState, age = 0, path = '/none'): boolean =>
    isHeld(holder(one, part), { text: '', mtimeMs: NOW - age }, path, NOW, state);
  const exclusive = { by: 'exclusive', since: 0 } as const;

  test.each<[string, Partial<BuildHolder>, OwnerState, boolean]>([
    ['while its holder runs', {}, 'runs', true],
    ['not when that has ended', {}, 'ended', false],
    ['not a tool call of half an hour ago', { since: NOW - 30 * MINUTE }, 'runs', false],
    ['but one a little younger', { since: NOW - 30 * MINUTE + 1 }, 'runs', true],
    ['not one from ahead of time', { since: NOW + MINUTE }, 'runs', false],
    ['but one of a clock that differs a little', { since: NOW + MINUTE - 1 }, 'runs', true],
    ['and `exclusive` for as long as it takes', exclusive, 'runs', true],
    ['not `exclusive` when nothing is left of it', exclusive, 'ended', false],
  ])('%s', (_, part, state, expected) => expect(held(part, state)).toBe(expected));

  test('while its own process runs, and no longer', async () => {
    expect([held({}), held(exclusive), held({ start: '1' })]).toEqual([true, true, false]);
    await end(one);
    expect([held({}), held(exclusive)]).toEqual([false, false]);
  });

  test('while anything runs that was started under it, though its holder has ended', async () => {
    start('carrier', { REAPTOP_LOCKS: `outer n${one.pid}` });
    start('carrier', { REAPTOP_LOCKS: '' });
    await end(one);
    await until('the carriers', () => held(exclusive));
    expect([held({ ...exclusive, nonce: 'another' }), held({ ...exclusive, nonce: '' })]).toEqual([
      false,
      false,
    ]);
  });

  const BLIND = ['elsewhere', 'unknown'] as const;

  test.each([
    [0, true],
    [10 * MINUTE - 1, true],
    [10 * MINUTE, false],
    [-MINUTE + 1, true],
    [-MINUTE, false],
  ])('of a tool call %d ms old where nobody can tell who runs: %s', (age, expected) => {
    for (const state of BLIND) expect(held({ since: NOW - age }, state)).toBe(expected);
  });

  test.each([
    [59_999, true],
    [60_000, false],
    [-60_000, false],
  ])('of `exclusive` touched %d ms ago where nobody can tell who runs: %s', (age, expected) => {
    expect(held({ ...exclusive, boot: 'other' }, undefined, age)).toBe(expected);
    expect(held(exclusive, 'unknown', age)).toBe(expected);
  });

  test('held in another pid namespace while the kernel locks its file', () => {
    const other = { ...exclusive, namespace: 'pid:[2]' };
    expect(take(one, other).status).toBe('taken');
    const fd = openBuildLock(directory, { key: PROJECT })!;
    const untouched = 10 * MINUTE;
    expect(held(other, undefined, untouched, file())).toBe(true);
    closeSync(fd);
    expect(held(other, undefined, untouched, file())).toBe(false);
  });
});

test('what runs under a lock carries its nonce, and those of locks around it', () => {
  expect(underLock({ A: '1' }, holder(one))).toEqual({ A: '1', REAPTOP_LOCKS: `n${one.pid}` });
  expect(underLock(underLock({}, holder(one)), holder(two))).toEqual({
    REAPTOP_LOCKS: `n${one.pid} n${two.pid}`,
  });
});

describe('what a lock says', () => {
  test('comes back as it was written', () => {
    const full = holder(one, { session: null, toolUseId: null, beside: ['/a'] });
    expect(parseHolder(JSON.stringify(full))).toEqual(full);
    for (const by of ['hook', 'exclusive'] as const)
      expect(parseHolder(JSON.stringify(holder(one, { by })))).toEqual(holder(one, { by }));
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
    expect(parseHolder(JSON.stringify({ ...holder(one), ...part }))).toBeNull();
  });

  test('is nothing when it was cut short; of the rest only what makes sense is taken', () => {
    for (const text of ['', '{"pid": 1', 'null', '7']) expect(parseHolder(text)).toBeNull();
    const odd = { ...holder(one), beside: ['/a', 7, null] };
    expect(parseHolder(JSON.stringify(odd))).toEqual(holder(one, { beside: ['/a'] }));
    expect(parseHolder(JSON.stringify({ ...odd, beside: 'x' }))).toEqual(holder(one));
    expect(parseHolder(JSON.stringify({ ...odd, beside: null }))).toEqual(holder(one));
  });
});

describe('the lock of a project', () => {
  test('is taken by one, for this user alone, and held against the other until it is given back', () => {
    expect(take(one)).toEqual({ status: 'taken', left: [] });
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(take(two)).toEqual({ status: 'held', holder: holder(one) });
    expect(buildHolder(directory, PROJECT, NOW)).toEqual(holder(one));
    releaseBuildLock(directory, holder(two));
    expect(take(two).status).toBe('held');
    releaseBuildLock(directory, holder(one));
    expect(buildHolder(directory, PROJECT, NOW)).toBeNull();
    expect(take(two).status).toBe('taken');
    expect(readdirSync(join(directory, 'locks'))).toHaveLength(1);
  });

  test.each<[string, Partial<BuildHolder>]>([
    ['of another session', { session: 'two' }],
    ['of another call', { toolUseId: 'other' }],
    ['of another process', { pid: 1 }],
    ['of another with its number', { start: 'new' }],
    ['that took another of the same process', { nonce: 'new' }],
  ])('is not given back by one %s', (_, part) => {
    take(one);
    releaseBuildLock(directory, holder(one, part));
    expect(take(two).status).toBe('held');
  });

  test('is given back also by who knows only the session', () => {
    take(one);
    releaseBuildLock(directory, { key: PROJECT, session: 'one' });
    expect(buildHolder(directory, PROJECT, NOW)).toBeNull();
  });

  test('is another one for another project', () => {
    take(one);
    for (const key of ['/work/projecT', '/work/projec', '/work/project/x', ''])
      expect(take(two, { key }).status).toBe('taken');
    expect(readdirSync(join(directory, 'locks'))).toHaveLength(5);
  });

  test('is taken over from one that has ended, with what lies beside it', async () => {
    take(one, { beside: ['/work/.diagnostic-lock'] });
    await end(one);
    expect(buildHolder(directory, PROJECT, NOW)).toBeNull();
    expect(take(two)).toEqual({ status: 'taken', left: ['/work/.diagnostic-lock'] });
    expect(readdirSync(join(directory, 'locks'))).toHaveLength(1);
    writeFileSync(file(), 'torn');
    expect(take(one)).toEqual({ status: 'taken', left: [] });
  });

  test('says when it was last touched', () => {
    take(one);
    touchBuildLock(directory, PROJECT, new Date(NOW));
    expect(statSync(file()).mtimeMs).toBe(NOW);
    rmSync(file());
    touchBuildLock(directory, PROJECT, new Date(NOW));
    expect(openBuildLock(directory, holder(one))).toBeNull();
    expect(readdirSync(join(directory, 'locks'))).toEqual([]);
  });

  test('stays when its holder gives it back while something that was started under it runs', async () => {
    take(one, { by: 'exclusive' });
    const carrier = start('carrier', { REAPTOP_LOCKS: `n${one.pid}` });
    await until('the carrier', () => lockCarriers(`n${one.pid}`, file()).length > 0);
    releaseBuildLock(directory, holder(one));
    await end(one);
    // Whoever has to wait is told of one that runs.
    expect(take(two)).toMatchObject({ status: 'held', holder: carrier });
    expect(buildHolder(directory, PROJECT, NOW)).toMatchObject({ pid: carrier.pid, what: 'lean_build' });
    await end(carrier);
    expect(take(two).status).toBe('taken');
  });

  test('is carried in the middle of an exec, too, when an environment reads as empty', () => {
    const again = sandbox.write('again.sh', 'exec sh "$0"\n');
    const { pid } = sandbox.start(['sh', again], { env: { REAPTOP_LOCKS: 'again' } });
    const found = Array.from({ length: 300 }, () => lockCarriers('again', '/none').map(one => one.pid));
    expect(found.filter(pids => !pids.includes(pid))).toEqual([]);
  });

  test('can be had by nobody where it cannot be written, and holds nobody up where it cannot be read', () => {
    expect(takeBuildLock('/proc/reaptop', holder(one), NOW)).toEqual({
      status: 'unavailable',
      why: expect.any(String),
    });
    take(one);
    const path = file();
    rmSync(path);
    mkdirSync(path);
    expect(buildHolder(directory, PROJECT, NOW)).toBeNull();
    releaseBuildLock(directory, holder(one));
    expect(take(one)).toEqual({ status: 'unavailable', why: expect.any(String) });
  });

  test('keeps its file name from version to version', () => {
    take(one);
    expect(readdirSync(join(directory, 'locks'))).toEqual(['017df269d6e7537f.json']);
  });
});
