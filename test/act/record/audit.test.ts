import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rotateAudit, writeAudit } from '../../../src/act/record/audit.ts';
import type { IntentLine, OutcomeLine } from '../../../src/act/record/audit-lines.ts';
import { Sandbox } from '../../support/sandbox.ts';

const canMount = spawnSync('unshare', ['-m', 'true']).status === 0;

let sandbox: Sandbox;
let directory: string;
const path = () => join(directory, 'audit.jsonl');
beforeEach(() => {
  sandbox = new Sandbox();
  directory = sandbox.path('state', 'reaptop');
});
afterEach(() => sandbox.close());

const intent = (id: string): IntentLine => ({
  schema: 1,
  event: 'intent',
  id,
  by: 'clean',
  why: 'clean --force',
  writer: { pid: 7, start: '1' },
  boot: null,
  plan: {},
  sessions: [],
});
const outcome = (id: string): OutcomeLine => ({
  schema: 1,
  event: 'outcome',
  id,
  by: 'clean',
  outcomes: [],
  freed: 0,
  durationMs: 12,
  sessions: [],
  files: [],
  note: null,
  completedBy: null,
});
const lines = (name = 'audit.jsonl'): { id: string; event: string; time: string }[] =>
  readFileSync(join(directory, name), 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));

test('is JSON lines with a time, for this user alone', () => {
  expect(writeAudit(intent('a'), { directory })).toBeNull();
  expect(writeAudit(outcome('a'), { directory })).toBeNull();
  expect(lines().map(({ id, event }) => [id, event])).toEqual([
    ['a', 'intent'],
    ['a', 'outcome'],
  ]);
  expect(Date.parse(lines()[0]!.time)).toBeGreaterThan(0);
  expect(lines()[0]).toMatchObject({ level: 'info' });
  expect(statSync(path()).mode & 0o777).toBe(0o600);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

test('is rotated between two acts, never between the two lines of one, and keeps two older files', async () => {
  for (let n = 0; n < 6; n += 1) {
    expect(await rotateAudit(directory, 1)).toBeNull();
    expect(writeAudit(intent(`n${n}`), { directory })).toBeNull();
    expect(writeAudit(outcome(`n${n}`), { directory })).toBeNull();
  }
  expect(readdirSync(directory).sort()).toEqual(['audit.1.jsonl', 'audit.2.jsonl', 'audit.jsonl']);
  const ids = ['audit.jsonl', 'audit.1.jsonl', 'audit.2.jsonl'].map(name => lines(name).map(({ id }) => id));
  expect(ids).toEqual([
    ['n5', 'n5'],
    ['n4', 'n4'],
    ['n3', 'n3'],
  ]);
});

test('is not rotated before it is full', async () => {
  writeAudit(intent('a'), { directory });
  expect(await rotateAudit(directory)).toBeNull();
  expect(readdirSync(directory)).toEqual(['audit.jsonl']);
  expect(lines()).toHaveLength(1);
});

test('a log of just so many bytes is full, and one byte less is not', async () => {
  writeAudit(intent('a'), { directory });
  const { size } = statSync(path());
  expect(await rotateAudit(directory, size + 1)).toBeNull();
  expect(readdirSync(directory)).toEqual(['audit.jsonl']);
  expect(await rotateAudit(directory, size)).toBeNull();
  expect(readdirSync(directory).sort()).toEqual(['audit.1.jsonl', 'audit.jsonl']);
});

test('neither writing nor asking whether it is full leaves a file open', async () => {
  const open = readdirSync('/proc/self/fd').length;
  writeAudit(intent('a'), { directory });
  await rotateAudit(directory);
  expect(readdirSync('/proc/self/fd')).toHaveLength(open);
});

test('the file after a rotation is for this user alone, too', async () => {
  writeAudit(intent('a'), { directory });
  expect(await rotateAudit(directory, 1)).toBeNull();
  expect(statSync(path()).mode & 0o777).toBe(0o600);
});

test('what is not ours is not rotated: who writes says why', async () => {
  mkdirSync(directory, { recursive: true });
  const elsewhere = sandbox.write('precious', 'mine');
  symlinkSync(elsewhere, path());
  expect(await rotateAudit(directory, 1)).toBeNull();
  expect(readdirSync(directory)).toEqual(['audit.jsonl']);
  expect(readFileSync(elsewhere, 'utf8')).toBe('mine');
});

test('what cannot be moved is one warning, and the log goes on in the same file', async () => {
  writeAudit(intent('a'), { directory });
  mkdirSync(join(directory, 'audit.1.jsonl', 'x'), { recursive: true });
  mkdirSync(join(directory, 'audit.2.jsonl', 'x'), { recursive: true });
  expect(await rotateAudit(directory, 1)).toMatch(/audit\.jsonl could not be rotated: /);
  expect(writeAudit(outcome('a'), { directory })).toBeNull();
  expect(lines().map(({ event }) => event)).toEqual(['intent', 'outcome']);
});

test('a line that was cut short does not swallow the next one', () => {
  writeAudit(intent('a'), { directory });
  writeFileSync(path(), '{"schema":1,"event":"int', { flag: 'a' });
  writeAudit(intent('b'), { directory });
  const whole = readFileSync(path(), 'utf8').trimEnd().split('\n');
  expect(JSON.parse(whole[0]!).id).toBe('a');
  expect(JSON.parse(whole[2]!).id).toBe('b');
});

test('never follows a symbolic link', () => {
  mkdirSync(directory, { recursive: true });
  const elsewhere = sandbox.write('precious', 'mine');
  symlinkSync(elsewhere, path());
  expect(writeAudit(intent('a'), { directory })).toMatch(/could not be written: it is a symbolic link/);
  expect(readFileSync(elsewhere, 'utf8')).toBe('mine');
});

test('a FIFO in its place is a warning, not a wait', () => {
  mkdirSync(directory, { recursive: true });
  expect(spawnSync('mkfifo', [path()]).status).toBe(0);
  expect(writeAudit(intent('a'), { directory })).toMatch(/could not be written: it is not a regular file$/);
});

test.each<[string, () => string | null, RegExp]>([
  ['no home', () => null, /there is no directory for it/],
  ['a full disk', () => '/dev/full/reaptop', /could not be written/],
  ['a file in the way', () => sandbox.write('file', ''), /could not be written/],
  ['a read-only place', () => '/proc/reaptop', /could not be written/],
])('%s gives one warning and no exception', (_, where, warning) => {
  expect(writeAudit(intent('a'), { directory: where() })).toMatch(warning);
});

test.skipIf(!canMount)('a disk that is full is a warning, too', async () => {
  mkdirSync(directory, { recursive: true });
  const bundle = sandbox.path('audit.mjs');
  await build({
    stdin: {
      contents: `import { writeAudit } from './audit.ts';
        process.stdout.write(String(writeAudit(${JSON.stringify(intent('a'))}, { directory: process.argv[2] })));`,
      resolveDir: fileURLToPath(new URL('../../../src/act/record', import.meta.url)),
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
