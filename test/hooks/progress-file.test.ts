import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { inDirectory } from '../../src/act/held-directory.ts';
import { lockPath, ownerOf } from '../../src/act/record/file-lock.ts';
import { type Beat, removeHeld, replaceHeld, writeBeat } from '../../src/hooks/progress-file.ts';
import { Sandbox } from '../support/sandbox.ts';

const NAME = '.agent-progress.json';
const NOW = new Date('2026-01-27T12:00:00Z');

let sandbox: Sandbox;
let root: string;
let path: string;
beforeEach(() => {
  sandbox = new Sandbox();
  root = realpathSync(sandbox.path('work'));
  path = join(root, NAME);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await sandbox.close();
});

const LIMITS = () => ({ state: sandbox.path('state'), waitMs: 1500 });
const read = (): Record<string, unknown> => JSON.parse(readFileSync(path, 'utf8'));
const beat = (what: Beat): Record<string, unknown> => {
  writeBeat(root, root, what, NOW, LIMITS());
  return read();
};
const FIRST = {
  session_id: null,
  task_number: null,
  phase: 0,
  operation: 'initializing',
  last_update: expect.any(String),
  diagnostic_calls: 0,
  skipped_diagnostics: 0,
};

describe('a beat', () => {
  test('without fields writes the initial file', () => expect(beat({})).toEqual(FIRST));

  test.each<[string, Record<string, unknown>, Beat, Record<string, unknown>]>([
    [
      'says what it is told',
      {},
      { session: 's', task: 7, phase: 2, operation: 'x', proof: 'p', status: 'done' },
      { session_id: 's', task_number: 7, phase: 2, operation: 'x', proof: 'p', status: 'done' },
    ],
    [
      'leaves the rest as it was',
      { session_id: 's', task_number: 7, phase: 2, operation: 'x', proof: 'p', mine: [1] },
      {},
      { session_id: 's', task_number: 7, phase: 2, operation: 'x', proof: 'p', mine: [1] },
    ],
    ['keeps a session that is named', { session_id: 'a' }, { sessionIfNone: 'b' }, { session_id: 'a' }],
    ['names one where none is', {}, { sessionIfNone: 'b' }, { session_id: 'b' }],
    ['or an empty one', { session_id: '' }, { sessionIfNone: 'b' }, { session_id: 'b' }],
    ['or that of a shell without one', { session_id: 'null' }, { sessionIfNone: 'b' }, { session_id: 'b' }],
    ['or none that is a text', { session_id: 7 }, { sessionIfNone: 'b' }, { session_id: 'b' }],
    ['takes the session over that it names', { session_id: 'a' }, { session: 'b' }, { session_id: 'b' }],
    ['adds to the counts', { diagnostic_calls: 7 }, { calls: 1 }, { diagnostic_calls: 8 }],
    ['of what was skipped, too', { skipped_diagnostics: 3 }, { skipped: 2 }, { skipped_diagnostics: 5 }],
    ['begins a count below zero anew', { diagnostic_calls: -1 }, { calls: 1 }, { diagnostic_calls: 1 }],
    ['and one that is none', { diagnostic_calls: '7' }, { calls: 1 }, { diagnostic_calls: 1 }],
    ['and one that is broken', { diagnostic_calls: 1.5 }, {}, { diagnostic_calls: 0 }],
  ])('%s', (_, before, what, after) => {
    writeFileSync(path, JSON.stringify(before));
    expect(beat(what)).toMatchObject(after);
    expect(readdirSync(root)).toEqual([NAME]);
  });

  test('without a status removes the status of an earlier run', () => {
    writeFileSync(path, '{"status":"done"}');
    for (const what of [{}, { status: null }]) expect(beat(what)).not.toHaveProperty('status');
  });

  test.each([
    [0, '2026-01-27T12:00:00+00:00'],
    [-60, '2026-01-27T13:00:00+01:00'],
    [-330, '2026-01-27T17:30:00+05:30'],
    [210, '2026-01-27T08:30:00-03:30'],
  ])('says when it was in local time: %s', (offset, text) => {
    vi.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(offset);
    expect(beat({}).last_update).toBe(text);
  });

  test.each(['', '{"phase":', 'null', '[]', '7', '"text"', `{"a":"${'x'.repeat(70_000)}"}`])(
    'begins anew where there is nothing to keep: %.10s',
    text => {
      writeFileSync(path, text);
      expect(beat({})).toEqual(FIRST);
    },
  );

  test.each<[string, () => unknown]>([
    ['a link', () => symlinkSync(sandbox.write('victim', '{"mine":1}'), path)],
    ['a directory', () => mkdirSync(path)],
  ])('is not written over %s', (_, make) => {
    make();
    const before = lstatSync(path);
    expect(() => writeBeat(root, root, {}, NOW, LIMITS())).toThrow('it is not a regular file of ours');
    expect(lstatSync(path)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
    expect(readdirSync(root)).toEqual([NAME]);
  });

  /** Another beat of this directory is being written. */
  const beating = (): string => {
    mkdirSync(sandbox.path('state/locks'), { recursive: true });
    const { dev, ino } = statSync(root);
    const lock = lockPath(sandbox.path('state'), `beat:${dev}:${ino}`);
    writeFileSync(lock, JSON.stringify(ownerOf()));
    return lock;
  };
  const waited = (what: Beat): number => {
    const began = performance.now();
    expect(() => beat(what)).toThrow('another heartbeat is being written');
    return performance.now() - began;
  };

  test('is given up soon while another is written, and leaves it alone', () => {
    const lock = beating();
    expect(waited({})).toBeLessThan(1400);
    expect([existsSync(lock), readdirSync(root)]).toEqual([true, []]);
  });

  test.each<[string, Beat]>([
    ['a call', { calls: 1 }],
    ['a skipped one', { skipped: 1 }],
    ['both', { calls: 1, skipped: 1 }],
  ])('that counts waits as long as it may, for a count is not followed by another: %s', (_, what) => {
    beating();
    expect(waited(what)).toBeGreaterThan(1490);
  });

  test.each<[string, (lock: string) => unknown]>([
    ['a link to a device without an end', lock => symlinkSync('/dev/zero', lock)],
    ['a FIFO', lock => execFileSync('mkfifo', [lock])],
    ['a directory', lock => mkdirSync(lock)],
  ])('is not kept by what a repository calls its lock: %s', (_, make) => {
    make(`${path}.lock`);
    const began = performance.now();
    expect(beat({ calls: 1 })).toMatchObject({ diagnostic_calls: 1 });
    expect(performance.now() - began).toBeLessThan(1000);
    expect(readdirSync(root).sort()).toEqual([NAME, `${NAME}.lock`]);
  });

  test.each<[string, () => string | null]>([
    ['there is no state directory', () => null],
    ['it cannot be made', () => sandbox.write('file', '')],
    ['its lock cannot be', () => dirname(dirname(rmThenMkdir(beating())))],
  ])('is written without a lock where %s', (_, state) => {
    writeBeat(root, root, { calls: 1 }, NOW, { state: state(), waitMs: 1500 });
    expect(read()).toMatchObject({ diagnostic_calls: 1 });
  });

  const rmThenMkdir = (lock: string): string => {
    rmSync(lock);
    mkdirSync(lock);
    return lock;
  };
});

describe('in a held directory', () => {
  test('a file is replaced as a whole, whatever an earlier draft left', () => {
    writeFileSync(`${path}.${process.pid}.tmp`, 'torn');
    writeFileSync(path, 'before');
    inDirectory(root, root, held => replaceHeld(held, NAME, 'after'));
    expect(readFileSync(path, 'utf8')).toBe('after');
    expect(readdirSync(root)).toEqual([NAME]);
  });

  test('no draft is left where it cannot be replaced', () => {
    mkdirSync(join(path, 'full'), { recursive: true });
    expect(() => inDirectory(root, root, held => replaceHeld(held, NAME, 'after'))).toThrow();
    expect(readdirSync(root)).toEqual([NAME]);
  });

  test.each<[string, () => unknown, boolean]>([
    ['a file is removed', () => writeFileSync(path, 'x'), true],
    ['a link is not', () => symlinkSync(sandbox.write('victim', 'x'), path), false],
    ['a directory is not', () => mkdirSync(path), false],
    ['what is not there is not', () => {}, false],
  ])('%s', (_, make, removed) => {
    make();
    const there = existsSync(path);
    expect(inDirectory(root, root, held => removeHeld(held, NAME))).toBe(removed);
    expect(existsSync(path)).toBe(there && !removed);
  });
});

test('no descriptor stays open', () => {
  const open = (): number => readdirSync('/proc/self/fd').length;
  const before = open();
  for (let n = 0; n < 30; n += 1) beat({});
  expect(open()).toBeLessThan(before + 15);
});
