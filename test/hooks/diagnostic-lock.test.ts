import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  DIAGNOSTIC_LOCK,
  foreignLock,
  makeDiagnosticLock,
  removeDiagnosticLock,
  touchDiagnosticLock,
} from '../../src/hooks/diagnostic-lock.ts';
import { Sandbox } from '../support/sandbox.ts';

const NOW = 1_800_000_000_000;

let sandbox: Sandbox;
let root: string;
let task: string;
let lock: string;
beforeEach(() => {
  sandbox = new Sandbox();
  root = realpathSync(sandbox.path('work'));
  task = join(root, 'specs/1_a');
  lock = join(task, DIAGNOSTIC_LOCK);
  mkdirSync(task, { recursive: true });
});
afterEach(() => sandbox.close());

/** A lock that was made so many milliseconds ago. */
const put = (directory: string, age: number, text = ''): string => {
  const path = join(directory, DIAGNOSTIC_LOCK);
  writeFileSync(path, text);
  utimesSync(path, new Date(NOW - age), new Date(NOW - age));
  return path;
};

describe('a lock of somebody else', () => {
  const found = (ours: readonly string[] = []) => foreignLock([root, root], new Set(ours), NOW);

  test.each<[string, () => unknown, number | null]>([
    ['is not there', () => {}, null],
    ['lies in the task', () => put(task, 10_000), 10],
    ['lies in the project', () => put(root, 10_000), 10],
    ['lies beside the tasks', () => put(join(root, 'specs'), 10_000), 10],
    ['is held until it is half a minute old', () => put(task, 29_999), 29.999],
    ['is stale from then on', () => put(task, 30_000), null],
    ['is a little ahead of our clock', () => put(task, -1999), 0],
    ['is dated in the future, which is stale', () => put(task, -2000), null],
    ['is a link, which is no lock', () => symlinkSync('/etc/hostname', lock), null],
  ])('%s', (_, make, since) => {
    make();
    const there = found();
    if (since === null) expect(there).toBeNull();
    else expect(there?.sinceSeconds).toBeCloseTo(since, 2);
  });

  test('is not one that we made, which hides no other', () => {
    put(root, 10_000);
    expect(found([join(root, DIAGNOSTIC_LOCK)])).toBeNull();
    put(task, 10_000);
    expect(found([join(root, DIAGNOSTIC_LOCK)])?.path).toBe(lock);
  });
});

describe('making one', () => {
  test.each<[string, () => unknown, boolean]>([
    ['where there is none', () => {}, true],
    ['in the place of a stale one', () => put(task, 30_000, 'old'), true],
    ['in the place of one that is dated in the future', () => put(task, -3_600_000), true],
    ['not over a fresh one', () => put(task, 29_999, 'theirs'), false],
    ['not over a link, though it leads to a stale one', () => symlinkSync(put(root, 90_000), lock), false],
    ['not over a directory', () => mkdirSync(lock), false],
    [
      'not over a stale directory',
      () => {
        mkdirSync(lock);
        utimesSync(lock, new Date(0), new Date(0));
      },
      false,
    ],
  ])('%s', (_, make, made) => {
    make();
    const before = lstatSync(lock, { throwIfNoEntry: false });
    expect(makeDiagnosticLock(root, task, NOW)).toBe(made);
    if (made) expect([lstatSync(lock).isFile(), lstatSync(lock).size]).toEqual([true, 0]);
    else expect(lstatSync(lock)).toEqual(before);
  });

  test('nowhere outside of the project, nor where there is no directory', () => {
    expect(makeDiagnosticLock(root, sandbox.path('home'), NOW)).toBe(false);
    expect(existsSync(sandbox.path('home', DIAGNOSTIC_LOCK))).toBe(false);
    expect(makeDiagnosticLock(root, join(root, 'specs/2_b'), NOW)).toBe(false);
  });
});

describe('touching one', () => {
  test('makes it as young as that', () => {
    put(task, 20_000);
    touchDiagnosticLock(lock, new Date(NOW));
    expect(statSync(lock).mtimeMs).toBe(NOW);
  });

  test('neither makes one nor follows a link', () => {
    touchDiagnosticLock(lock, new Date(NOW));
    expect(existsSync(lock)).toBe(false);
    const victim = put(root, 20_000);
    symlinkSync(victim, lock);
    touchDiagnosticLock(lock, new Date(NOW));
    expect(statSync(victim).mtimeMs).toBe(NOW - 20_000);
  });
});

describe('removing one', () => {
  test.each<[string, () => unknown, boolean]>([
    ['that is empty', () => put(task, 5), true],
    ['not one that says something: it is not ours', () => put(task, 5, 'theirs'), false],
    ['not a link to an empty one', () => symlinkSync(put(root, 5), lock), false],
    ['not a directory', () => mkdirSync(lock), false],
    ['not a FIFO, though it is as empty', () => execFileSync('mkfifo', [lock]), false],
  ])('%s', (_, make, removed) => {
    make();
    removeDiagnosticLock(root, task);
    expect(lstatSync(lock, { throwIfNoEntry: false }) === undefined).toBe(removed);
  });

  test('is silent where there is none, and leaves what lies outside of the project', () => {
    removeDiagnosticLock(root, task);
    removeDiagnosticLock(root, join(root, 'gone'));
    const outside = put(sandbox.path('home'), 5);
    removeDiagnosticLock(root, sandbox.path('home'));
    expect(readFileSync(outside, 'utf8')).toBe('');
  });
});
