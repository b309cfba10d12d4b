import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { withShortLock } from '../../../src/act/hooks/short-lock.ts';

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reaptop-lock-'));
  path = join(directory, 'state.lock');
});
afterEach(() => rmSync(directory, { recursive: true }));

const NOBODY = '4194303';
const age = (seconds: number): void => {
  const at = new Date(Date.now() - seconds * 1000);
  utimesSync(path, at, at);
};

it('is held while the work is done, and gone afterwards, whatever comes of it', () => {
  expect(withShortLock(path, 0, () => existsSync(path))).toEqual({ value: true });
  expect(() =>
    withShortLock(path, 0, () => {
      throw new Error('failed');
    }),
  ).toThrow('failed');
  expect(readdirSync(directory)).toEqual([]);
});

it.each([
  ['somebody who runs', String(process.pid), 0],
  ['somebody who runs and is starved', String(process.pid), 30],
  ['somebody who has not said who it is yet', '', 0],
])('is not to be had from %s', (_, holder, seconds) => {
  writeFileSync(path, holder);
  age(seconds);
  expect(withShortLock(path, 60, () => true)).toBeNull();
  expect(existsSync(path)).toBe(true);
});

it.each([
  ['somebody who has ended', NOBODY, 0],
  ['somebody who never said who it was', '', 10],
  ['somebody who runs but cannot be at it any more', String(process.pid), 120],
])('is taken over from %s', (_, holder, seconds) => {
  writeFileSync(path, holder);
  age(seconds);
  expect(withShortLock(path, 2000, () => true)).toEqual({ value: true });
  expect(readdirSync(directory)).toEqual([]);
});

it('a breaker that was killed in the middle does not keep everybody out', () => {
  writeFileSync(path, NOBODY);
  writeFileSync(`${path}.break`, NOBODY);
  expect(withShortLock(path, 2000, () => true)).toEqual({ value: true });
});
