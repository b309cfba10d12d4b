import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installHooks, uninstallHooks } from '../../src/hooks/install.ts';
import { lineSettings } from '../../src/hooks/line-settings.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let said: string;
beforeEach(() => {
  sandbox = new Sandbox();
  said = '';
});
afterEach(() => sandbox.close());

const out = { write: (text: string): unknown => (said += text) };
const ground = (script = '/opt/reaptop/dist/cli.js') => ({
  env: sandbox.env,
  cwd: sandbox.path('work'),
  script,
  out,
  err: out,
});
const settings = (): string => join(sandbox.home, '.claude/settings.json');
const put = (text: string): void => {
  mkdirSync(join(sandbox.home, '.claude'), { recursive: true });
  writeFileSync(settings(), text);
};
const read = (): string => readFileSync(settings(), 'utf8');
const line = (): Record<string, unknown> =>
  (JSON.parse(read()) as { statusLine: Record<string, unknown> }).statusLine;

const ODD = '// mine\r\n{\r\n\t"a": [1,  2], // keep\r\n\t"model": "opus"\r\n}';

test.each([
  ['nothing', null],
  ['settings with comments', ODD],
  ['a status line', '{ "statusLine": { "type": "command", "command": "echo \'a b\'", "padding": 0 } }\n'],
])('install and uninstall give back the bytes of %s', async (_, before) => {
  if (before !== null) put(before);
  await lineSettings('install', ground(), false);
  expect(read()).toContain('--once --line claude');
  await lineSettings('install', ground(), false);
  expect(said).toContain('nothing was changed');
  await lineSettings('uninstall', ground(), false);
  if (before === null) expect(existsSync(settings())).toBe(false);
  else expect(read()).toBe(before);
});

test('a line that is there still gets what Claude says, and ours comes below it', async () => {
  put(JSON.stringify({ statusLine: { type: 'command', command: `sed "s/x/it's/"`, padding: 1 } }));
  const own = sandbox.write('bin/cli.js', "process.stdin.on('data', d => console.log('ours ' + d));");
  await lineSettings('install', ground(own), false);
  expect(line()).toMatchObject({ type: 'command', padding: 1 });
  const { stdout } = spawnSync('sh', ['-c', String(line().command)], { input: '{"x":1}', encoding: 'utf8' });
  expect(stdout).toBe('{"it\'s":1}ours {"x":1}\n');
});

test('what changed meanwhile stays: only the line goes', async () => {
  put('{ "statusLine": { "type": "command", "command": "mine" } }\n');
  await lineSettings('install', ground(), false);
  writeFileSync(settings(), read().replace('{ "statusLine"', '{ "model": "haiku", "statusLine"'));
  await lineSettings('uninstall', ground(), false);
  expect(read()).toBe('{ "model": "haiku", "statusLine": { "type": "command", "command": "mine" } }\n');
});

test('line and hooks in one file come and go in any order', async () => {
  put(ODD);
  const hooks = { scope: 'user', dryRun: false } as const;
  await installHooks(ground(), hooks);
  await lineSettings('install', ground(), false);
  await uninstallHooks(ground(), hooks);
  expect(read()).toContain('--line claude');
  expect(read()).not.toContain('hook Stop');
  await lineSettings('uninstall', ground(), false);
  expect(read()).toBe(ODD);
  await lineSettings('install', ground(), false);
  await installHooks(ground(), hooks);
  await lineSettings('uninstall', ground(), false);
  expect(read()).toContain('hook Stop');
  expect(read()).not.toContain('--line claude');
});

test.each([
  '{ "statusLine": 7 }',
  '{ "statusLine": {}, "statusLine": {} }',
  '{ "statusLine": { "type": "x" } }',
  '{',
])('%s is left as it is', async text => {
  put(text);
  await expect(lineSettings('install', ground(), false)).rejects.toThrow(/was not changed/);
  expect(read()).toBe(text);
});

test('with --dry-run it only shows the difference', async () => {
  put(ODD);
  await lineSettings('install', ground(), true);
  expect(said).toContain('"statusLine": {');
  expect(read()).toBe(ODD);
  await lineSettings('status', ground(), false);
  expect(said).toContain('settings.json: not there');
});
