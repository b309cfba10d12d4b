import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { withShortLock } from '../../../src/act/hooks/short-lock.ts';
import {
  type FoundLock,
  type LockOwner,
  ownerOf,
  parseFields,
  parseOwner,
  readLock,
  removeLock,
  replaceStale,
  stateOf,
  tryLock,
} from '../../../src/act/record/file-lock.ts';
import type { Identity } from '../../../src/model/identity.ts';
import { Sandbox } from '../../support/sandbox.ts';

/** A machine on which processes below 100 run; null: nobody can tell. */
const machine = vi.hoisted(() => ({
  proc: true,
  boot: 'boot' as string | null,
  namespace: 'pid:[1]' as string | null,
  /** After each step on the file system. */
  step: () => {},
  /** Before a lock is read. */
  reading: (_path: string) => {},
  full: false,
}));
vi.mock('../../../src/observe/procfs/kin.ts', () => ({
  bootId: () => machine.boot,
  pidNamespace: () => machine.namespace,
  identityAt: (pid: number) => ({ pid, start: 'own' }),
  isRunning: ({ pid }: Identity) => (machine.proc ? pid < 100 || pid === process.pid : null),
}));
vi.mock('../../../src/observe/state/own-file.ts', async original => {
  const real = await original<typeof import('../../../src/observe/state/own-file.ts')>();
  return {
    ...real,
    readOwnEnd: (path: string, limit: number) => {
      machine.reading(path);
      return real.readOwnEnd(path, limit);
    },
  };
});
vi.mock('node:fs', async original => {
  const fs = await original<typeof import('node:fs')>();
  const stepping =
    <A extends unknown[], R>(real: (...args: A) => R) =>
    (...args: A): R => {
      const result = real(...args);
      machine.step();
      return result;
    };
  return {
    ...fs,
    linkSync: stepping(fs.linkSync),
    renameSync: stepping(fs.renameSync),
    rmSync: stepping(fs.rmSync),
    unlinkSync: stepping(fs.unlinkSync),
    writeSync: (...args: Parameters<typeof fs.writeSync>) => {
      if (machine.full) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      return fs.writeSync(...args);
    },
  };
});

let sandbox: Sandbox;
let directory: string;
let path: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('locks');
  mkdirSync(directory);
  path = join(directory, 'one.lock');
  Object.assign(machine, { proc: true, boot: 'boot', namespace: 'pid:[1]', full: false });
  Object.assign(machine, { step: () => {}, reading: () => {} });
});
afterEach(() => {
  machine.step = () => {};
  return sandbox.close();
});

const owner = (pid: number, part: Partial<LockOwner> = {}): string =>
  JSON.stringify({ ...ownerOf({ pid, start: `s${pid}` }), ...part });
const ENDED = 500;
const left = (): string[] => readdirSync(directory);
const text = (): string => readFileSync(path, 'utf8');
const found = (): FoundLock => readLock(path)!;
const age = (seconds: number): void => {
  const at = new Date(Date.now() - seconds * 1000);
  utimesSync(path, at, at);
};

describe('a lock', () => {
  test('is taken by one, who alone gives it back', () => {
    const [mine, theirs] = [owner(10), owner(20)];
    expect(tryLock(path, mine)).toBe('taken');
    expect(tryLock(path, theirs)).toMatchObject({ text: mine });
    removeLock(path, theirs);
    expect(text()).toBe(mine);
    removeLock(path, mine);
    expect(left()).toEqual([]);
  });

  test('of the same process is another one each time', () => {
    expect(owner(10)).not.toBe(owner(10));
  });

  test('that was given back between the try and the look is not there', () => {
    tryLock(path, owner(10));
    machine.reading = () => rmSync(path, { force: true });
    expect(tryLock(path, owner(20))).toBeNull();
  });

  test.each<[string, () => unknown]>([
    ['a link to a device without an end', () => symlinkSync('/dev/zero', path)],
    ['a link to nothing', () => symlinkSync(join(directory, 'none'), path)],
    ['a FIFO', () => execFileSync('mkfifo', [path])],
    ['a directory', () => mkdirSync(path)],
  ])('cannot be had, at once and for good, where %s is', (_, make) => {
    make();
    const began = performance.now();
    expect(() => tryLock(path, owner(10))).toThrow();
    expect(() => withShortLock(path, 10_000, () => true)).toThrow();
    expect(performance.now() - began).toBeLessThan(2000);
    expect(left()).toEqual(['one.lock']);
  });

  test('cannot be had on a full disk, which costs no time and leaves nothing behind', () => {
    machine.full = true;
    expect(() => withShortLock(path, 10_000, () => true)).toThrow('full');
    expect(left()).toEqual([]);
    tryLockBefore(owner(ENDED));
    machine.full = true;
    expect(() => replaceStale(path, found(), owner(10))).toThrow('full');
    expect(left()).toEqual(['one.lock']);
  });
});

const tryLockBefore = (holder: string): void => {
  machine.full = false;
  expect(tryLock(path, holder)).toBe('taken');
};

describe('who holds a lock', () => {
  const state = (part: Partial<LockOwner>, pid = 10) =>
    stateOf(parseOwner(parseFields(owner(pid, part))) as LockOwner);
  test('runs, has ended, or is elsewhere, where its number means nothing', () => {
    expect([state({}), state({}, ENDED)]).toEqual(['runs', 'ended']);
    expect([state({ boot: 'other' }), state({ namespace: 'pid:[2]' })]).toEqual(['elsewhere', 'elsewhere']);
    // What is not said is taken for here: locks of an earlier version, kernels without namespaces.
    expect([state({ boot: null, namespace: null }), state({ boot: null }, ENDED)]).toEqual(['runs', 'ended']);
    machine.boot = null;
    machine.namespace = null;
    expect(state({ boot: 'other', namespace: 'other' })).toBe('runs');
    machine.proc = false;
    expect(state({})).toBe('unknown');
  });

  test.each(['', 'null', '7', '{"pid": 1', '77', '{"pid":1.5,"start":"s"}', '{"pid":1,"start":2}'])(
    'is not said by %j',
    said => expect(parseOwner(parseFields(said))).toBeNull(),
  );
  test.each<[object]>([[{ boot: 1 }], [{ namespace: {} }], [{ nonce: 3 }]])('is not said with %j', part => {
    expect(parseOwner({ ...parseFields(owner(10)), ...part })).toBeNull();
  });
});

describe('a stale lock', () => {
  beforeEach(() => tryLockBefore(owner(ENDED)));

  test('is replaced, and its name is free at no step of that', () => {
    const free: boolean[] = [];
    machine.step = () => free.push(!left().includes('one.lock'));
    const mine = owner(10);
    expect(replaceStale(path, found(), mine)).toBe(true);
    expect(free.length).toBeGreaterThan(3);
    expect(free).not.toContain(true);
    expect([text(), left()]).toEqual([mine, ['one.lock']]);
  });

  test('is replaced by one of two who saw it', () => {
    const stale = found();
    const [first, second] = [owner(10), owner(20)];
    let other: boolean | null = null;
    machine.reading = () => {
      machine.reading = () => {};
      other = replaceStale(path, stale, second);
    };
    expect(replaceStale(path, stale, first)).toBe(true);
    expect([other, text()]).toEqual([false, first]);
    expect(replaceStale(path, stale, second)).toBe(false);
    expect([text(), left()]).toEqual([first, ['one.lock']]);
  });

  test('is replaced by nobody when it was given back, or another took its place', () => {
    const stale = found();
    rmSync(path);
    expect(replaceStale(path, stale, owner(10))).toBe(false);
    const fresh = owner(20);
    tryLockBefore(fresh);
    expect(replaceStale(path, stale, owner(10))).toBe(false);
    expect([text(), left()]).toEqual([fresh, ['one.lock']]);
  });

  /** Leaves the turn of one that was replacing this lock. */
  const leaveTurn = (holder: string): string => {
    let turn = '';
    machine.reading = () => {
      turn ||= left().find(name => name.endsWith('.turn')) ?? '';
    };
    const stale = found();
    expect(replaceStale(path, stale, stale.text)).toBe(true);
    machine.reading = () => {};
    expect(turn).not.toBe('');
    writeFileSync(join(directory, turn), holder);
    return turn;
  };

  test('is left to one that is about to replace it', () => {
    leaveTurn(owner(20));
    expect(replaceStale(path, found(), owner(10))).toBe(false);
  });

  test.each([
    ['has ended', owner(ENDED)],
    ['is torn', '{"pid'],
  ])('is replaced after one that was killed while it replaced it: that one %s', (_, holder) => {
    leaveTurn(holder);
    const mine = owner(10);
    expect(replaceStale(path, found(), mine)).toBe(true);
    expect([text(), left()]).toEqual([mine, ['one.lock']]);
  });

  test('is left to one elsewhere that replaces it, for five seconds', () => {
    const turn = leaveTurn(owner(20, { namespace: 'pid:[2]' }));
    expect(replaceStale(path, found(), owner(10))).toBe(false);
    const old = new Date(Date.now() - 5001);
    utimesSync(join(directory, turn), old, old);
    expect(replaceStale(path, found(), owner(10))).toBe(true);
  });
});

describe('a short lock', () => {
  const had = (waitMs = 60): boolean => withShortLock(path, waitMs, () => true) !== null;

  test('is held while the work is done, and gone afterwards, whatever comes of it', () => {
    expect(withShortLock(path, 0, () => left())).toEqual({ value: ['one.lock'] });
    expect(() =>
      withShortLock(path, 0, () => {
        throw new Error('failed');
      }),
    ).toThrow('failed');
    expect(left()).toEqual([]);
  });

  test.each<[string, string, number]>([
    ['one that runs', owner(10), 0],
    ['one that runs and is starved', owner(10), 59],
    ['one elsewhere, a moment ago', owner(ENDED, { namespace: 'pid:[2]' }), 4],
  ])('is not had from %s', (_, holder, seconds) => {
    tryLockBefore(holder);
    age(seconds);
    expect(had()).toBe(false);
    expect(text()).toBe(holder);
  });

  test.each<[string, string, number]>([
    ['one that has ended', owner(ENDED), 0],
    ['one that runs and cannot be at it any more', owner(10), 60],
    ['one elsewhere, seconds ago', owner(10, { boot: 'other' }), 5],
    ['one elsewhere, dated ahead', owner(10, { boot: 'other' }), -60],
    ['nobody: it is torn', '{"pid', 0],
    ['a bare number', '10', 0],
  ])('is taken over from %s', (_, holder, seconds) => {
    tryLockBefore(holder);
    age(seconds);
    expect(had()).toBe(true);
    expect(left()).toEqual([]);
  });

  test('where there is no /proc only its age tells', () => {
    tryLockBefore(owner(ENDED));
    machine.proc = false;
    expect(had()).toBe(false);
    age(6);
    expect(had()).toBe(true);
  });

  test('is waited for no longer than asked', () => {
    tryLockBefore(owner(10));
    const began = performance.now();
    expect(had(300)).toBe(false);
    expect(performance.now() - began).toBeGreaterThan(290);
  });

  test('leaves no descriptor open', () => {
    const open = (): number => readdirSync('/proc/self/fd').length;
    const before = open();
    for (let n = 0; n < 50; n += 1) had();
    expect(open()).toBeLessThan(before + 25);
  });
});
