import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FollowedLines } from '../../../src/observe/state/lines-file.ts';
import { Sandbox } from '../../support/sandbox.ts';

let sandbox: Sandbox;
let path: string;
let lines: FollowedLines;
beforeEach(() => {
  sandbox = new Sandbox();
  path = sandbox.path('log');
  lines = new FollowedLines(path, 1000);
});
afterEach(() => sandbox.close());

test('reads what was added since the last time, whole lines only', () => {
  expect(lines.next()).toEqual([]);
  writeFileSync(path, 'one\ntwo\nthr');
  expect(lines.next()).toEqual(['one', 'two']);
  appendFileSync(path, 'ee\n');
  expect([lines.next(), lines.next()]).toEqual([['three'], []]);
});

test.each([
  ['has outgrown the old one', 'new one\nnew two\nnew three\n'],
  ['is as long as the old one', 'four\nfive\n'],
  ['is shorter than the old one', 'six\n'],
])('reads a rotated log that %s from its beginning', (_, text) => {
  writeFileSync(path, 'one\ntwo\n12\n');
  expect(lines.next()).toHaveLength(3);
  renameSync(path, `${path}.1`);
  writeFileSync(path, text);
  expect(lines.next()).toEqual(text.trim().split('\n'));
});

test('reads at most so much of what came at once, from its end', () => {
  const few = new FollowedLines(path, 12);
  writeFileSync(path, 'aaaa\nbbbb\ncccc\ndddd\n');
  expect(few.next()).toEqual(['b', 'cccc', 'dddd']);
});
