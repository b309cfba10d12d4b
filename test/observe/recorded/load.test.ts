import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadRecorded, MOST_BYTES } from '../../../src/observe/recorded/load.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'reaptop-recorded-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const file = (content: string): string => {
  const path = join(dir, 'table');
  writeFileSync(path, content);
  return path;
};

test('reads a file, and standard input for -', async () => {
  expect(await loadRecorded(file('PID CMD\n5 claude'))).toMatchObject({ ok: true });
  const stdin = Readable.from([Buffer.from('PID C'), Buffer.from('MD\n5 claude')]);
  expect(await loadRecorded('-', { stdin })).toMatchObject({ ok: true });
});

test('a file without its own date was made no later than it was saved', async () => {
  const reading = await loadRecorded(file('PID CMD\n5 claude'), { now: Date.now() + 1e9 });
  expect(reading.ok && reading.table.look.takenAt).toBeLessThan(Date.now() + 1e8);
});

test.each([
  ['missing', () => join(dir, 'none'), /none does not exist\.$/],
  ['below a file', () => join(file('x'), 'y'), /does not exist/],
  ['a directory', () => dir, /is a directory/],
  ['empty', () => file(''), /table is empty/],
  ['a name with an escape', () => join(dir, 'a\x1b[2J'), /a\\x1b\[2J does not exist/],
])('%s', async (_, path, sentence) => {
  expect(await loadRecorded(path())).toMatchObject({ ok: false, message: expect.stringMatching(sentence) });
});

test('what cannot be read says why', async () => {
  // Address 0 of our own memory: refused to root too, unlike a file without permissions.
  expect(await loadRecorded('/proc/self/mem')).toMatchObject({
    ok: false,
    message: expect.stringContaining('cannot be read'),
  });
});

test('a pipe or a device nobody handed over is refused at once', async () => {
  const pipe = join(dir, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const path of [pipe, '/dev/zero', '/dev/tty'])
    expect(await loadRecorded(path)).toMatchObject({
      ok: false,
      message: expect.stringMatching(/is not a regular file|cannot be read/),
    });
});

test('a file or a stream larger than any table is refused at once', async () => {
  const path = file('');
  truncateSync(path, MOST_BYTES + 1);
  expect(await loadRecorded(path)).toMatchObject({
    ok: false,
    message: expect.stringContaining('larger than 32 MiB'),
  });
  const endless = new Readable({
    read() {
      this.push(Buffer.alloc(1024 ** 2, 'x'));
    },
  });
  expect(await loadRecorded('-', { stdin: endless })).toMatchObject({
    ok: false,
    message: expect.stringContaining('Standard input is larger'),
  });
});

test('megabytes of anything are answered in seconds', async () => {
  for (const piece of ['{', '[', 'a b\n', 'PID COMMAND\n', '12 x\n', '{"pid":1}\n']) {
    const began = performance.now();
    await loadRecorded(file(`PID COMMAND\n${piece.repeat(8e6 / piece.length)}`));
    await loadRecorded(file(piece.repeat(8e6 / piece.length)));
    expect(performance.now() - began, piece).toBeLessThan(15_000);
  }
}, 120_000);

test('a row that is one long run of anything is answered in time, whatever the columns', async () => {
  const spaces = ' '.repeat(130_000);
  for (const text of [
    `PID COMMAND\n1 a${spaces}b`,
    `PID COMM RSS COMMAND\n1 a${spaces}b`,
    `PID COMMAND RSS\n1 a${' '.repeat(65_000)}b`,
    `PID COMM COMM COMM COMM STAT COMMAND\n1 ${'1 '.repeat(1000)}1`,
    `PID COMMAND\n1 a\na@${'a'.repeat(130_000)}`,
    JSON.stringify([{ pid: 1, command: `a${spaces}b` }]),
  ]) {
    const began = performance.now();
    await loadRecorded(file(text));
    expect(performance.now() - began, text.slice(0, 40)).toBeLessThan(1000);
  }
});
