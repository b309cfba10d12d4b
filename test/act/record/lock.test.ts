import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type LockHolder, takeRunLock } from '../../../src/act/record/run-lock.ts';
import type { System } from '../../../src/observe/system.ts';
import { rawProcess } from '../../support/proc.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { realSystem } from '../stage.ts';

let sandbox: Sandbox;
let directory: string;
const lockFile = () => join(directory, 'clean.lock');
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state', 'reaptop');
});
afterEach(() => sandbox.close());

const system = realSystem();
const lockOf = (holder: Partial<LockHolder>): string =>
  JSON.stringify({ pid: process.pid, start: '1', by: 'clean', since: 0, ...holder });
const leaveLock = (content: string): void => {
  mkdirSync(directory, { recursive: true });
  writeFileSync(lockFile(), content);
};
const take = (by = 'clean', on: Pick<System, 'presence' | 'sample'> = system) =>
  takeRunLock(on, by, { directory });

test('keeps a second run out, says who holds it, and is gone after release', async () => {
  const first = await take('clean');
  expect(first).toMatchObject({ status: 'taken', warning: null });
  const second = await take('guard');
  expect(second).toMatchObject({
    status: 'held',
    holder: { pid: process.pid, start: rawProcess(process.pid)?.start, by: 'clean' },
  });
  expect(second.status === 'held' && second.why).toMatch(
    new RegExp(`pid ${process.pid} \\(clean\\), for \\d+ s`),
  );
  if (first.status === 'taken') first.release();
  expect(readdirSync(directory)).toEqual([]);
  expect((await take('guard')).status).toBe('taken');
});

test('another reaptop of ours that runs holds it', async () => {
  const script = sandbox.write('dist/cli.js', 'setInterval(() => {}, 1e6)');
  const { pid, start } = sandbox.start([process.execPath, script, 'clean']);
  leaveLock(lockOf({ pid, start, by: 'clean\x1b[31m' }));
  expect(await take()).toMatchObject({ status: 'held', holder: { pid, start } });
  // What a file says goes to a terminal: no escape sequence of it may.
  expect(((await take()) as { why: string }).why).not.toContain('\x1b');
});

test.each<[string, () => Partial<LockHolder>]>([
  ['whose holder is dead', () => ({ pid: 4_000_000 })],
  ['whose pid was reused', () => ({})],
  ['that names PID 1', () => ({ pid: 1, start: rawProcess(1)!.start })],
  ['that names some other program of ours', () => sandbox.start(['sleep', '600'])],
])('takes over a lock %s', async (_, holder) => {
  const { pid, start = '1' } = holder();
  leaveLock(lockOf({ start, ...(pid === undefined ? {} : { pid }) }));
  expect(await take()).toMatchObject({ status: 'taken', warning: null });
  expect(JSON.parse(readFileSync(lockFile(), 'utf8')).pid).toBe(process.pid);
  expect(readdirSync(directory)).toEqual(['clean.lock']);
});

test.skipIf(process.geteuid?.() !== 0)("takes over a lock that names another user's process", async () => {
  const script = sandbox.write('dist/cli.js', 'setInterval(() => {}, 1e6)');
  chmodSync(sandbox.dir, 0o755);
  const { pid, start } = sandbox.start([
    'setpriv',
    '--reuid=65534',
    '--clear-groups',
    process.execPath,
    script,
    'clean',
  ]);
  for (let uid = ''; !uid.includes('65534'); ) uid = readFileSync(`/proc/${pid}/status`, 'utf8');
  leaveLock(lockOf({ pid, start }));
  expect(await take()).toMatchObject({ status: 'taken', warning: null });
});

test.each([
  ['that was cut short', '{"pid": 1'],
  ['that is empty', ''],
])('takes over a lock %s', async (_, content) => {
  leaveLock(content);
  expect(await take()).toMatchObject({ status: 'taken', warning: null });
});

test('a holder that cannot be read holds: unreadable is not gone', async () => {
  leaveLock(lockOf({ pid: 4_000_000 }));
  const blind = {
    sample: system.sample,
    presence: (pid: number) =>
      pid === 4_000_000 ? { status: 'unreadable' as const, why: 'hidden' } : system.presence(pid),
  };
  expect(await take('clean', blind)).toMatchObject({ status: 'held', holder: { pid: 4_000_000 } });
});

test.each([
  ['boot', { boot: 'another', namespace: null }],
  ['pid namespace', { boot: null, namespace: 'pid:[1]' }],
])('a holder of another %s is not looked for by its number: it holds for a minute', async (_, place) => {
  leaveLock(lockOf({ pid: 4_000_000, ...place }));
  expect(await take()).toMatchObject({ status: 'held', holder: { pid: 4_000_000 } });
  const old = new Date(Date.now() - 60_000);
  utimesSync(lockFile(), old, old);
  expect(await take()).toMatchObject({ status: 'taken', warning: null });
});

test('a fresh lock that slips in while a stale one is removed is put back, and holds', async () => {
  leaveLock(lockOf({ pid: 4_000_000 }));
  const fresh = lockOf({ start: rawProcess(process.pid)!.start, by: 'guard' });
  const late = {
    sample: system.sample,
    presence: (pid: number) => {
      // Another run takes over the stale lock after we have read it.
      if (pid === 4_000_000) writeFileSync(lockFile(), fresh);
      return system.presence(pid);
    },
  };
  expect(await take('clean', late)).toMatchObject({ status: 'held', holder: { by: 'guard' } });
  expect(readFileSync(lockFile(), 'utf8')).toBe(fresh);
  expect(readdirSync(directory)).toEqual(['clean.lock']);
});

test('a release does not remove the lock of somebody else', async () => {
  const mine = await take();
  const theirs = lockOf({ pid: 1 });
  writeFileSync(lockFile(), theirs);
  if (mine.status === 'taken') mine.release();
  expect(readFileSync(lockFile(), 'utf8')).toBe(theirs);
});

test('where it cannot be written there is a warning, and the run goes on', async () => {
  for (const place of [null, '/proc/reaptop', sandbox.write('file', '')]) {
    const result = await takeRunLock(system, 'clean', { directory: place });
    expect(result).toMatchObject({
      status: 'taken',
      warning: expect.stringMatching(/^no lock against a second clean-up: /),
    });
  }
});

test('a FIFO in its place is a warning, not a wait', async () => {
  mkdirSync(directory, { recursive: true });
  expect(spawnSync('mkfifo', [lockFile()]).status).toBe(0);
  expect(await take()).toMatchObject({
    status: 'taken',
    warning: expect.stringContaining('it is not a regular file'),
  });
});
