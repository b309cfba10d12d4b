import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { logHook } from '../../src/hooks/context.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let directory: string;
let path: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state');
  path = join(directory, 'hook.log');
});
afterEach(() => sandbox.close());

const lines = (): Record<string, string>[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));

test('a line for each, for us alone, with nothing in it that a terminal would obey', () => {
  logHook(directory, 'Stop', 'one', 'let \u001b[31mgo');
  logHook(directory, 'Stop', null, 'x'.repeat(600));
  expect(lines()).toMatchObject([
    { event: 'Stop', session: 'one', time: expect.stringMatching(/^\d{4}-.*Z$/) },
    { session: null, what: 'x'.repeat(500) },
  ]);
  expect(lines()[0]?.what).not.toContain('\u001b');
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('from a mebibyte on it becomes the old one, and begins again', () => {
  logHook(directory, 'Stop', 'one', 'first');
  truncateSync(path, 1024 ** 2 - 1);
  logHook(directory, 'Stop', 'one', 'second');
  expect(existsSync(`${path}.1`)).toBe(false);
  truncateSync(path, 1024 ** 2);
  logHook(directory, 'Stop', 'one', 'third');
  expect(statSync(`${path}.1`).size).toBeGreaterThan(1024 ** 2);
  expect(existsSync(path)).toBe(false);
  logHook(directory, 'Stop', 'one', 'fourth');
  expect(lines()).toMatchObject([{ what: 'fourth' }]);
});

test('where there is no place for it, or a link in its place, nothing is written and nothing said', () => {
  logHook(null, 'Stop', 'one', 'x');
  const victim = sandbox.write('victim', 'mine');
  sandbox.write('state/.keep', '');
  symlinkSync(victim, path);
  logHook(directory, 'Stop', 'one', 'x');
  expect(readFileSync(victim, 'utf8')).toBe('mine');
});

test('no descriptor stays open', () => {
  const before = readdirSync('/proc/self/fd').length;
  for (let n = 0; n < 50; n += 1) logHook(directory, 'Stop', 'one', 'x');
  expect(readdirSync('/proc/self/fd').length).toBeLessThan(before + 25);
});
