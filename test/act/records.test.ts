import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { auditAct } from '../../src/act/record/audit.ts';
import { takeRunLock } from '../../src/act/record/lock.ts';
import { stateDirectory } from '../../src/act/record/state-directory.ts';
import { leftSomething, summarise } from '../../src/act/summary.ts';
import type { Outcome, OutcomeKind } from '../../src/model/plan.ts';
import { rawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { planOf } from './fake-system.ts';
import { realSystem } from './stage.ts';

const canMount = spawnSync('unshare', ['-m', 'true']).status === 0;

let sandbox: Sandbox;
let directory: string;
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state', 'reaptop');
});
afterEach(() => sandbox.close());

const outcome = (kind: OutcomeKind, freed = 0): Outcome => ({
  pid: 10,
  start: '1',
  name: 'x',
  outcome: kind,
  why: 'because',
  freed,
});
const act = {
  by: 'clean',
  plan: planOf([{ pid: 10, start: '1' }]),
  outcomes: [outcome('ended', 100)],
  durationMs: 12.4,
} as const;

describe('the audit log', () => {
  const path = () => join(directory, 'audit.jsonl');

  test('holds one JSON line per act, for this user alone', () => {
    expect(auditAct(act, { directory })).toBeNull();
    expect(auditAct({ ...act, by: 'tui', note: 'z' }, { directory })).toBeNull();
    const lines = readFileSync(path(), 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({
      by: 'clean',
      plan: {
        steps: [{ pid: 10, start: '1', name: 'p10', signal: 'SIGTERM', why: 'asked for' }],
        bytes: 100,
      },
      outcomes: [{ pid: 10, outcome: 'ended', freed: 100 }],
      freed: 100,
      durationMs: 12,
    });
    expect(Date.parse(lines[0].time)).toBeGreaterThan(0);
    expect(lines[0].plan.steps[0]).not.toHaveProperty('command');
    expect(lines[1].by).toBe('tui');
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  test('is rotated, and keeps two older files', () => {
    for (let n = 0; n < 6; n += 1)
      expect(auditAct({ ...act, note: `n${n}` }, { directory, rotateBytes: 1 })).toBeNull();
    expect(readdirSync(directory).sort()).toEqual(['audit.1.jsonl', 'audit.2.jsonl', 'audit.jsonl']);
    const note = (name: string) => JSON.parse(readFileSync(join(directory, name), 'utf8')).note;
    expect([note('audit.jsonl'), note('audit.1.jsonl'), note('audit.2.jsonl')]).toEqual(['n5', 'n4', 'n3']);
  });

  test('never follows a symbolic link', () => {
    mkdirSync(directory, { recursive: true });
    const elsewhere = sandbox.write('precious', 'mine');
    symlinkSync(elsewhere, path());
    expect(auditAct(act, { directory })).toMatch(/could not be written: it is a symbolic link/);
    expect(readFileSync(elsewhere, 'utf8')).toBe('mine');
  });

  test.each<[string, () => string | null, RegExp]>([
    ['no home', () => null, /HOME is not set/],
    ['a full disk', () => '/dev/full/reaptop', /could not be written/],
    ['a file in the way', () => sandbox.write('file', ''), /could not be written/],
    ['a read-only place', () => '/proc/reaptop', /could not be written/],
  ])('%s gives one warning and no exception', (_, where, warning) => {
    expect(auditAct(act, { directory: where() })).toMatch(warning);
  });

  test.skipIf(!canMount)('a disk that is full is a warning, too', async () => {
    mkdirSync(directory, { recursive: true });
    const bundle = sandbox.path('audit.mjs');
    await build({
      stdin: {
        contents: `import { auditAct } from './audit.ts';
          process.stdout.write(String(auditAct(${JSON.stringify(act)}, { directory: process.argv[2] })));`,
        resolveDir: fileURLToPath(new URL('../../src/act/record', import.meta.url)),
      },
      outfile: bundle,
      bundle: true,
      platform: 'node',
      format: 'esm',
      // pino is CommonJS and asks for node's own modules.
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
      logLevel: 'silent',
    });
    const script =
      'mount -t tmpfs -o size=4k none "$0" && head -c 4096 /dev/zero > "$0/filler" && exec "$1" "$2" "$0"';
    const result = spawnSync('unshare', ['-m', 'sh', '-c', script, directory, process.execPath, bundle], {
      encoding: 'utf8',
      env: sandbox.env,
    });
    expect(result.stdout).toMatch(/audit\.jsonl could not be written: the disk is full$/);
    expect(result.status).toBe(0);
  });
});

describe('the state directory', () => {
  test.each<[NodeJS.ProcessEnv, string | null]>([
    [{ XDG_STATE_HOME: '/s', HOME: '/h' }, '/s/reaptop'],
    [{ XDG_STATE_HOME: 'relative', HOME: '/h' }, '/h/.local/state/reaptop'],
    [{ HOME: '/h' }, '/h/.local/state/reaptop'],
    [{}, null],
  ])('%j is %s', (env, expected) => {
    expect(stateDirectory(env)).toBe(expected);
  });
});

describe('the run lock', () => {
  const system = realSystem();
  const lockFile = () => join(directory, 'clean.lock');

  test('keeps a second run out, says who holds it, and is gone after release', async () => {
    const first = await takeRunLock(system, 'clean', { directory });
    expect(first).toMatchObject({ status: 'taken', warning: null });
    const second = await takeRunLock(system, 'guard', { directory });
    expect(second).toMatchObject({
      status: 'held',
      holder: { pid: process.pid, start: rawProcess(process.pid)?.start, by: 'clean' },
    });
    expect(second.status === 'held' && second.why).toMatch(
      new RegExp(`pid ${process.pid} \\(clean\\), since \\d+ s`),
    );
    if (first.status === 'taken') first.release();
    expect(readdirSync(directory)).toEqual([]);
    expect((await takeRunLock(system, 'guard', { directory })).status).toBe('taken');
  });

  test.each([
    ['whose holder is dead', () => JSON.stringify({ pid: 4_000_000, start: '1', by: 'clean', since: 0 })],
    ['whose pid was reused', () => JSON.stringify({ pid: process.pid, start: '1', by: 'clean', since: 0 })],
    ['that was cut short', () => '{"pid": 1'],
    ['that is empty', () => ''],
  ])('takes over a lock %s', async (_, content) => {
    mkdirSync(directory, { recursive: true });
    writeFileSync(lockFile(), content());
    const result = await takeRunLock(system, 'clean', { directory });
    expect(result).toMatchObject({ status: 'taken', warning: null });
    expect(JSON.parse(readFileSync(lockFile(), 'utf8')).pid).toBe(process.pid);
    expect(readdirSync(directory)).toEqual(['clean.lock']);
  });

  test('a release does not remove the lock of somebody else', async () => {
    const mine = await takeRunLock(system, 'clean', { directory });
    const theirs = JSON.stringify({ pid: 1, start: '1', by: 'clean', since: 0 });
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
    chmodSync(sandbox.path('file'), 0o600);
  });
});

describe('the summary', () => {
  test('counts what happened and the bytes that came back', () => {
    const outcomes = [
      ...Array.from({ length: 7 }, () => outcome('ended', 0)),
      outcome('killed', 3.1 * 1024 ** 3),
    ];
    expect(summarise(outcomes)).toBe('7 ended, 1 killed, 3.1 GiB back');
    expect(summarise([outcome('survived'), outcome('zombie'), outcome('denied')])).toBe(
      '1 zombie, 1 survived, 1 denied',
    );
    expect(summarise([])).toBe('nothing to do');
  });

  test('exit code 4 is for what survived or was denied', () => {
    expect(leftSomething([outcome('survived')]) && leftSomething([outcome('denied')])).toBe(true);
    expect(
      leftSomething(
        (['ended', 'killed', 'gone', 'zombie', 'respawned', 'refused'] as const).map(k => outcome(k)),
      ),
    ).toBe(false);
  });
});
