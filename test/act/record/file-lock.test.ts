import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type FoundLock,
  type LockOwner,
  lockState,
  ownerOf,
  parseFields,
  parseOwner,
  readLock,
  removeLock,
  replaceStale,
  tryLock,
} from '../../../src/act/record/file-lock.ts';
import { withShortLock } from '../../../src/hooks/progress-file.ts';
import type { Identity } from '../../../src/model/identity.ts';
import { identityAt, isRunning } from '../../../src/observe/procfs/one-process.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

/** Two that run, and one that has ended. */
const ONE = identityAt(process.pid)!;
const TWO = identityAt(process.ppid)!;
const ENDED: Identity = { pid: spawnSync('true').pid, start: '1' };

const CAN_MOUNT = spawnSync('unshare', ['-m', 'true']).status === 0;

let sandbox: Sandbox;
let directory: string;
let path: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('locks');
  mkdirSync(directory);
  path = join(directory, 'one.lock');
});
afterEach(() => sandbox.close());

const owner = (of: Identity, part: Partial<LockOwner> = {}): string =>
  JSON.stringify({ ...ownerOf(of), ...part });
/** Reads a lock after something has happened. */
const readAfter =
  (happens: () => void): typeof readLock =>
  at => {
    happens();
    return readLock(at);
  };
const left = (): string[] => readdirSync(directory);
const text = (): string => readFileSync(path, 'utf8');
const found = (): FoundLock => readLock(path)!;
const age = (seconds: number): void => {
  const at = new Date(Date.now() - seconds * 1000);
  utimesSync(path, at, at);
};

describe('a lock', () => {
  test('is taken by one, who alone gives it back', () => {
    const [mine, theirs] = [owner(ONE), owner(TWO)];
    expect(tryLock(path, mine)).toBe('taken');
    expect(tryLock(path, theirs)).toMatchObject({ text: mine });
    removeLock(path, theirs);
    expect(text()).toBe(mine);
    removeLock(path, mine);
    expect(left()).toEqual([]);
  });

  test('of the same process is a new lock each time', () => {
    expect(owner(ONE)).not.toBe(owner(ONE));
  });

  test('released between the attempt and the read does not exist', () => {
    tryLock(path, owner(ONE));
    expect(
      tryLock(
        path,
        owner(TWO),
        readAfter(() => rmSync(path)),
      ),
    ).toBeNull();
  });

  test.each<[string, () => unknown]>([
    ['a link to a device without an end', () => symlinkSync('/dev/zero', path)],
    ['a link to nothing', () => symlinkSync(join(directory, 'none'), path)],
    ['a FIFO', () => execFileSync('mkfifo', [path])],
    ['a directory', () => mkdirSync(path)],
  ])('cannot be had, at once and for good, where %s is', (_, make) => {
    make();
    const began = performance.now();
    expect(() => tryLock(path, owner(ONE))).toThrow();
    expect(() => withShortLock(path, 10_000, () => true)).toThrow();
    expect(performance.now() - began).toBeLessThan(2000);
    expect(left()).toEqual(['one.lock']);
  });

  test.skipIf(!CAN_MOUNT)(
    'cannot be had on a full disk, which costs no time and leaves nothing behind',
    () => {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8k,mode=700', 'full', directory]);
      const fill = (bytes: number): void => writeFileSync(join(directory, 'filler'), Buffer.alloc(bytes));
      try {
        fill(8192);
        const began = performance.now();
        expect(() => withShortLock(path, 10_000, () => true)).toThrow('ENOSPC');
        expect(left()).toEqual(['filler']);
        fill(4096);
        leave(owner(ENDED));
        expect(() => replaceStale(path, found(), owner(ONE))).toThrow('ENOSPC');
        expect(left().sort()).toEqual(['filler', 'one.lock']);
        expect(performance.now() - began).toBeLessThan(2000);
      } finally {
        execFileSync('umount', [directory]);
      }
    },
  );
});

const leave = (holder: string): void => expect(tryLock(path, holder)).toBe('taken');

describe('who holds a lock', () => {
  const state = (part: Partial<LockOwner>, of = ONE, here?: Parameters<typeof lockState>[1]) =>
    lockState(parseOwner(parseFields(owner(of, part))) as LockOwner, here);
  test('runs, has ended, or is elsewhere, where its number means nothing', () => {
    expect([state({}), state({}, ENDED), state({}, { ...ONE, start: '1' })]).toEqual([
      'runs',
      'ended',
      'ended',
    ]);
    expect([state({ boot: 'other' }), state({ namespace: 'pid:[2]' })]).toEqual(['elsewhere', 'elsewhere']);
    // What is not said is taken for here: locks of an earlier version, kernels without namespaces.
    expect([state({ boot: null, namespace: null }), state({ boot: null }, ENDED)]).toEqual(['runs', 'ended']);
    const here = { bootId: () => null, pidNamespace: () => null, isRunning };
    expect(state({ boot: 'other', namespace: 'other' }, ONE, here)).toBe('runs');
    expect(state({}, ONE, { ...here, isRunning: () => null })).toBe('unknown');
  });

  test.each(['', 'null', '7', '{"pid": 1', '77', '{"pid":1.5,"start":"s"}', '{"pid":1,"start":2}'])(
    'is not said by %j',
    said => expect(parseOwner(parseFields(said))).toBeNull(),
  );
  test.each<[object]>([[{ boot: 1 }], [{ namespace: {} }], [{ nonce: 3 }]])('is not said with %j', part => {
    expect(parseOwner({ ...parseFields(owner(ONE)), ...part })).toBeNull();
  });
});

describe('a stale lock', () => {
  beforeEach(() => leave(owner(ENDED)));

  test('is replaced, and its name is free at no step of that', async () => {
    const told: (string | null)[] = [];
    const watcher = watch(directory, (event, name) => {
      if (event === 'rename') told.push(name);
    });
    const mine = owner(ONE);
    expect(replaceStale(path, found(), mine)).toBe(true);
    expect([text(), left()]).toEqual([mine, ['one.lock']]);
    writeFileSync(join(directory, 'last'), '');
    await until('the last change', () => told.includes('last'));
    watcher.close();
    // A name that is given up and taken again is told of twice.
    expect(told.filter(name => name === 'one.lock')).toHaveLength(1);
  });

  test('is replaced by one of two who saw it', () => {
    const stale = found();
    const [first, second] = [owner(ONE), owner(TWO)];
    let other: boolean | null = null;
    const meanwhile = readAfter(() => {
      other = replaceStale(path, stale, second);
    });
    expect(replaceStale(path, stale, first, 0, meanwhile)).toBe(true);
    expect([other, text()]).toEqual([false, first]);
    expect(replaceStale(path, stale, second)).toBe(false);
    expect([text(), left()]).toEqual([first, ['one.lock']]);
  });

  test('is replaced by nobody when it was given back, or another took its place', () => {
    const stale = found();
    rmSync(path);
    expect(replaceStale(path, stale, owner(ONE))).toBe(false);
    const fresh = owner(TWO);
    leave(fresh);
    expect(replaceStale(path, stale, owner(ONE))).toBe(false);
    expect([text(), left()]).toEqual([fresh, ['one.lock']]);
  });

  /** Leaves the turn of one that was replacing this lock. */
  const leaveTurn = (holder: string): string => {
    let turn = '';
    const look = readAfter(() => {
      turn = left().find(name => name.endsWith('.turn')) ?? '';
    });
    const stale = found();
    expect(replaceStale(path, stale, stale.text, 0, look)).toBe(true);
    expect(turn).not.toBe('');
    writeFileSync(join(directory, turn), holder);
    return turn;
  };

  test('is left to one that is about to replace it, however long that takes', () => {
    const turn = leaveTurn(owner(TWO));
    expect(replaceStale(path, found(), owner(ONE))).toBe(false);
    const old = new Date(Date.now() - 60_000);
    utimesSync(join(directory, turn), old, old);
    expect(replaceStale(path, found(), owner(ONE))).toBe(false);
  });

  test.each([
    ['has ended', owner(ENDED)],
    ['is torn', '{"pid'],
  ])('is replaced after one that was killed while it replaced it: that one %s', (_, holder) => {
    leaveTurn(holder);
    const mine = owner(ONE);
    expect(replaceStale(path, found(), mine)).toBe(true);
    expect([text(), left()]).toEqual([mine, ['one.lock']]);
  });

  test('is left to one elsewhere that replaces it, for five seconds', () => {
    const turn = leaveTurn(owner(TWO, { namespace: 'pid:[2]' }));
    expect(replaceStale(path, found(), owner(ONE))).toBe(false);
    const old = new Date(Date.now() - 5001);
    utimesSync(join(directory, turn), old, old);
    expect(replaceStale(path, found(), owner(ONE))).toBe(true);
  });
});

describe('a short lock', () => {
  const had = (waitMs = 60, stateOf?: typeof lockState): boolean =>
    withShortLock(path, waitMs, () => true, stateOf) !== null;

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
    ['one that runs', owner(ONE), 0],
    ['one that runs and is starved', owner(ONE), 59],
    ['one elsewhere, a moment ago', owner(ENDED, { namespace: 'pid:[2]' }), 4],
  ])('is not had from %s', (_, holder, seconds) => {
    leave(holder);
    age(seconds);
    expect(had()).toBe(false);
    expect(text()).toBe(holder);
  });

  test.each<[string, string, number]>([
    ['one that has ended', owner(ENDED), 0],
    ['one that runs and cannot be at it any more', owner(ONE), 60],
    ['one elsewhere, seconds ago', owner(ONE, { boot: 'other' }), 5],
    ['one elsewhere, dated ahead', owner(ONE, { boot: 'other' }), -60],
    ['nobody: it is torn', '{"pid', 0],
    ['a bare number', '10', 0],
  ])('is taken over from %s', (_, holder, seconds) => {
    leave(holder);
    age(seconds);
    expect(had()).toBe(true);
    expect(left()).toEqual([]);
  });

  test('where there is no /proc only its age tells', () => {
    leave(owner(ENDED));
    expect(had(60, () => 'unknown')).toBe(false);
    age(6);
    expect(had(60, () => 'unknown')).toBe(true);
  });

  test('is waited for no longer than asked', () => {
    leave(owner(ONE));
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
