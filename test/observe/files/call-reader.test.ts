import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CallReader } from '../../../src/observe/files/call-reader.ts';
import { callLines } from '../../fixtures/call-lines.ts';

const { claude } = callLines;
const MiB = 1024 ** 2;

let directory: string;
let path: string;
let reader: CallReader;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reaptop-calls-'));
  path = join(directory, 'session.jsonl');
  reader = new CallReader();
});
afterEach(() => rmSync(directory, { recursive: true }));

const text = (...lines: readonly object[]): string => lines.map(line => `${JSON.stringify(line)}\n`).join('');
const read = (at = path) => {
  reader.begin();
  return reader.read(at, 'claude', statSync(at));
};
const pending = (at = path): readonly string[] | null =>
  read(at)?.pending.map(({ id, tool }) => `${id} ${tool}`) ?? null;

/** A line that says nothing about calls, as long as this. */
const blob = (bytes: number): string =>
  `${JSON.stringify({ type: 'api-request-blob', message: 'x'.repeat(Math.max(0, bytes - 45)) })}\n`;

test('follows a transcript line by line, and reads nothing while it does not change', () => {
  writeFileSync(path, text(claude.prompt(), claude.call('a', 'Bash')));
  expect(pending()).toEqual(['a Bash']);
  const before = reader.bytesRead;
  expect(pending()).toEqual(['a Bash']);
  expect(reader.bytesRead).toBe(before);
  const added = text(claude.result('a'), claude.call('b', 'Read'));
  appendFileSync(path, added);
  expect(pending()).toEqual(['b Read']);
  expect(reader.bytesRead).toBe(before + added.length);
});

test('half a line counts when its other half has come', () => {
  const line = text(claude.call('a', 'Bash'));
  writeFileSync(path, text(claude.prompt()) + line.slice(0, 70));
  expect(pending()).toEqual([]);
  appendFileSync(path, line.slice(70, 200));
  expect(pending()).toEqual([]);
  appendFileSync(path, line.slice(200));
  expect(pending()).toEqual(['a Bash']);
});

test('reads a long transcript only back to the start of the last message', () => {
  writeFileSync(path, blob(MiB).repeat(12));
  appendFileSync(path, text(claude.call('old', 'Bash'), claude.call('a', 'Bash', { message: 'm' })));
  appendFileSync(path, blob(200 * 1024));
  appendFileSync(path, text(claude.call('b', 'Read', { message: 'm' })));
  expect(pending()).toEqual(['a Bash', 'b Read']);
  expect(reader.bytesRead).toBeLessThanOrEqual(MiB);
});

test('a call further back than 4 MiB is not known, and no more than that is read', () => {
  writeFileSync(path, text(claude.prompt(), claude.call('a', 'Bash')));
  for (let n = 0; n < 6; n += 1) appendFileSync(path, blob(MiB));
  expect(pending()).toEqual([]);
  expect(reader.bytesRead).toBe(4 * MiB);
});

test('a transcript of 1 GB costs no more than its end', () => {
  writeFileSync(path, '');
  truncateSync(path, 1024 ** 3);
  appendFileSync(path, `\n${text(claude.prompt(), claude.call('a', 'Bash'))}`);
  expect(pending()).toEqual(['a Bash']);
  expect(reader.bytesRead).toBeLessThanOrEqual(4 * MiB);
});

test('a line of 50 MB is passed over in pieces, and what was pending before it is forgotten', () => {
  writeFileSync(path, text(claude.prompt(), claude.call('a', 'Bash')));
  expect(pending()).toEqual(['a Bash']);
  const piece = 'x'.repeat(2 * MiB);
  for (let n = 0; n < 25; n += 1) {
    appendFileSync(path, piece);
    expect(pending()).toEqual([]);
  }
  appendFileSync(path, `"}\n${text(claude.call('b', 'Read'))}`);
  expect(pending()).toEqual(['b Read']);
  // No piece of it is read twice.
  expect(reader.bytesRead).toBeLessThan(52 * MiB);
});

test('a line of more than 1 MiB that comes at once is not parsed, and may have been a result', () => {
  writeFileSync(path, text(claude.prompt(), claude.call('a', 'Bash')));
  expect(pending()).toEqual(['a Bash']);
  appendFileSync(path, text({ ...claude.result('b'), more: 'x'.repeat(2 * MiB) }));
  expect(pending()).toEqual([]);
});

test('NUL bytes and lines that are not JSON are passed over', () => {
  writeFileSync(path, text(claude.prompt(), claude.call('a', 'Bash')));
  appendFileSync(
    path,
    Buffer.concat([Buffer.alloc(5000), Buffer.from('\n]]]{"type":"assistant"\nnull\n[1]\n\n')]),
  );
  expect(pending()).toEqual(['a Bash']);
});

test('a transcript that is replaced, cut or written anew in place is read anew', () => {
  writeFileSync(path, text(claude.prompt(), claude.call('a', 'Bash')));
  expect(pending()).toEqual(['a Bash']);
  const next = join(directory, 'next');
  writeFileSync(next, text(claude.prompt(), claude.call('b', 'Read'), claude.result('x')));
  renameSync(next, path);
  expect(pending()).toEqual(['b Read']);
  truncateSync(path, 0);
  expect(pending()).toEqual([]);
  writeFileSync(path, text(claude.call('c', 'Bash')));
  expect(pending()).toEqual(['c Bash']);
  const fd = openSync(path, 'r+');
  writeSync(fd, text(claude.call('d', 'Bash')));
  closeSync(fd);
  utimesSync(path, 1, 1);
  expect(pending()).toEqual(['d Bash']);
});

test('what grew by more than 4 MiB since is read from its end', () => {
  writeFileSync(path, text(claude.prompt(), claude.call('a', 'Bash')));
  pending();
  const before = reader.bytesRead;
  for (let n = 0; n < 9; n += 1) appendFileSync(path, blob(MiB));
  appendFileSync(path, text(claude.prompt(), claude.call('b', 'Read')));
  expect(pending()).toEqual(['b Read']);
  expect(reader.bytesRead - before).toBeLessThanOrEqual(4 * MiB);
});

test('a link, a FIFO and a directory in its place are not read, and hold nothing up', () => {
  const real = join(directory, 'real');
  writeFileSync(real, text(claude.prompt(), claude.call('a', 'Bash')));
  symlinkSync(real, path);
  expect(read()).toBe(null);
  const fifo = join(directory, 'fifo');
  spawnSync('mkfifo', [fifo]);
  expect(read(fifo)).toBe(null);
  expect(read(directory)).toBe(null);
  const stamp = statSync(real);
  rmSync(real);
  expect(reader.read(real, 'claude', stamp)).toBe(null);
});

test.skipIf(process.getuid?.() !== 0)("another user's file is not read", () => {
  writeFileSync(path, text(claude.prompt(), claude.call('a', 'Bash')));
  chownSync(path, 4711, 4711);
  expect(read()).toBe(null);
});

test('a file that shrinks while it is read costs nothing', () => {
  writeFileSync(path, text(claude.prompt(), claude.call('a', 'Bash')));
  const stamp = statSync(path);
  const fd = openSync(path, 'r+');
  ftruncateSync(fd, 40);
  closeSync(fd);
  expect(reader.read(path, 'claude', stamp)?.pending).toEqual([]);
});

test('one sample reads a bounded amount of all transcripts together; the next one goes on', () => {
  const paths = Array.from({ length: 8 }, (_, n) => join(directory, `${n}.jsonl`));
  for (const one of paths) writeFileSync(one, `${blob(MiB).repeat(5)}${text(claude.call('a', 'Bash'))}`);
  reader.begin();
  const first = paths.map(one => reader.read(one, 'claude', statSync(one)));
  expect(reader.bytesRead).toBeLessThanOrEqual(24 * MiB);
  expect(first.filter(told => told === null).length).toBeGreaterThan(0);
  reader.begin();
  expect(paths.map(one => reader.read(one, 'claude', statSync(one))?.pending.length)).toEqual(
    Array.from({ length: 8 }, () => 1),
  );
});
