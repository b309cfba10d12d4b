import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withShortLock } from '../../../src/act/hooks/short-lock.ts';

/** What happens on the machine between two of our questions. */
const machine = vi.hoisted(() => ({
  /** Whether the holder is found gone, look after look; afterwards it is there. */
  gone: [] as boolean[],
  proc: true,
  /** Somebody else removes it right before we do, or look at it. */
  vanishing: new Set<string>(),
  unseen: new Set<string>(),
  removed: [] as string[],
}));
vi.mock('node:fs', async importOriginal => {
  const fs = await importOriginal<typeof import('node:fs')>();
  return {
    ...fs,
    rmSync: (path: string, options?: object) => {
      machine.removed.push(path);
      if (machine.vanishing.delete(path)) fs.rmSync(path);
      fs.rmSync(path, options);
    },
    statSync: (path: string, options?: object) => {
      if (machine.unseen.delete(path)) fs.rmSync(path);
      return fs.statSync(path, options);
    },
  };
});
vi.mock('../../../src/observe/procfs/kin.ts', () => ({
  statAt: () => (machine.proc && !(machine.gone.shift() ?? false) ? {} : null),
  uptime: () => (machine.proc ? 1000 : null),
}));

let directory: string;
let path: string;
let breaker: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reaptop-lock-'));
  path = join(directory, 'state.lock');
  breaker = `${path}.break`;
  Object.assign(machine, { gone: [], proc: true, removed: [] });
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(directory, { recursive: true });
});

const GONE = (looks: number): boolean[] => Array<boolean>(looks).fill(true);
const taken = (waitMs = 60): boolean => withShortLock(path, waitMs, () => true) !== null;
const left = (): string[] => readdirSync(directory);

test('its holder is asked for twice, and once more right before it goes', () => {
  writeFileSync(path, '77');
  machine.gone = GONE(2);
  expect(taken()).toBe(false);
  expect(left()).toEqual(['state.lock']);
  machine.gone = GONE(3);
  expect(taken(5000)).toBe(true);
});

test('where there is no /proc only its age tells', () => {
  machine.proc = false;
  writeFileSync(path, '77');
  expect(taken()).toBe(false);
  utimesSync(path, new Date(0), new Date(0));
  expect(taken(5000)).toBe(true);
});

test.each([
  ['', 5000],
  ['77', 60_000],
])('held by %j it is stale from %i milliseconds on', (holder, ms) => {
  const now = Date.now();
  const age = (by: number): boolean => {
    let looks = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => (looks++ < 20 ? now : now + 60));
    writeFileSync(path, holder);
    utimesSync(path, new Date(now - by), new Date(now - by));
    return taken();
  };
  expect(age(ms - 1)).toBe(false);
  expect(age(ms)).toBe(true);
});

test('while somebody else breaks a stale one both are left to it', () => {
  writeFileSync(path, '77');
  writeFileSync(breaker, '78');
  // Every second look is at the lock, whose holder is gone; the one who breaks it is there.
  machine.gone = [true, ...Array.from({ length: 200 }, (_, n) => n % 2 === 0)];
  expect(taken(200)).toBe(false);
  expect(left().sort()).toEqual(['state.lock', 'state.lock.break']);
});

test('a breaker that is done in this moment is not removed: the next one may have begun', () => {
  writeFileSync(path, '77');
  writeFileSync(breaker, '78');
  machine.gone = GONE(100);
  machine.unseen.add(breaker);
  expect(taken(5000)).toBe(true);
  expect(machine.removed.filter(one => one === breaker)).toHaveLength(1);
});

test.each<[string, () => string, () => void]>([
  ['the lock itself', () => path, () => {}],
  ['a stale lock', () => path, () => writeFileSync(path, '77')],
  [
    'the breaker of one',
    () => breaker,
    () => {
      writeFileSync(path, '77');
      writeFileSync(breaker, '78');
    },
  ],
  ['our own breaker', () => breaker, () => writeFileSync(path, '77')],
])('what somebody else removes first is gone all the same: %s', (_, which, make) => {
  make();
  machine.gone = GONE(100);
  machine.vanishing.add(which());
  expect(taken(5000)).toBe(true);
  expect(left()).toEqual([]);
});

test('where it cannot be made the error is told at once', () => {
  const nowhere = join(directory, 'none/state.lock');
  expect(() => withShortLock(nowhere, 0, () => true)).toThrow('ENOENT');
});

test('no descriptor stays open', () => {
  const open = (): number => readdirSync('/proc/self/fd').length;
  const before = open();
  for (let n = 0; n < 50; n += 1) taken();
  expect(open()).toBeLessThan(before + 25);
  expect(existsSync(path)).toBe(false);
});
