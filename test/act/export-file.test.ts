import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exportFile } from '../../src/act/export-file.ts';

let here: string;
beforeEach(() => {
  here = mkdtempSync(join(tmpdir(), 'reaptop-test-'));
});
afterEach(() => rmSync(here, { recursive: true, force: true }));

const AT = new Date(2026, 10, 16, 22, 5, 9);

test('a new file, named for its moment, for us alone', () => {
  const path = exportFile(here, 'txt', 'hello\n', AT);
  expect(path).toBe(join(here, 'reaptop-20261116-220509.txt'));
  expect(readFileSync(path, 'utf8')).toBe('hello\n');
  expect(lstatSync(path).mode & 0o077).toBe(0);
});

test('never over a file that is there, and never through a link, whole or dangling', () => {
  const victim = join(here, 'victim');
  writeFileSync(victim, 'precious');
  writeFileSync(join(here, 'reaptop-20261116-220509.svg'), 'mine');
  symlinkSync(victim, join(here, 'reaptop-20261116-220509-1.svg'));
  symlinkSync(join(here, 'nowhere'), join(here, 'reaptop-20261116-220509-2.svg'));
  expect(exportFile(here, 'svg', 'new', AT)).toBe(join(here, 'reaptop-20261116-220509-3.svg'));
  expect(readFileSync(victim, 'utf8')).toBe('precious');
  expect(readFileSync(join(here, 'reaptop-20261116-220509.svg'), 'utf8')).toBe('mine');
  expect(readdirSync(here)).not.toContain('nowhere');
});

test('a thousand of one second are enough', () => {
  for (let n = 0; n < 1000; n += 1)
    writeFileSync(join(here, `reaptop-20261116-220509${n === 0 ? '' : `-${n}`}.txt`), '');
  expect(() => exportFile(here, 'txt', 'new', AT)).toThrow('there are 1000 files of this second already');
  expect(readdirSync(here)).toHaveLength(1000);
});
