import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import {
  type HookInstallOptions,
  installHooks,
  ownCommand,
  uninstallHooks,
} from '../../src/hooks/install.ts';
import { hookStatus } from '../../src/hooks/status.ts';
import { HookSession } from '../support/hook-session.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let said: string;
beforeEach(() => {
  sandbox = new Sandbox();
  said = '';
});
afterEach(() => sandbox.close());

const out = { write: (text: string): unknown => (said += text) };
const ground = () => ({
  env: sandbox.env,
  cwd: sandbox.path('work'),
  script: '/opt/reaptop/dist/cli.js',
  out,
  err: out,
});
const USER: HookInstallOptions = { scope: 'user', dryRun: false };
const settings = (): string => join(sandbox.home, '.claude/settings.json');
const put = (text: string): void => {
  mkdirSync(join(sandbox.home, '.claude'), { recursive: true });
  writeFileSync(settings(), text);
};

const ODD =
  '// mine\r\n{\r\n\t"b": 1, "a": [1,  2], // keep\r\n\t"hooks": {"Stop": [{"hooks":[{"type":"command","command":"x"}]}]}\r\n}';

describe('install and uninstall', () => {
  it('gives back the very bytes from before, and takes its backup away', async () => {
    put(ODD);
    await installHooks(ground(), USER);
    expect(readFileSync(`${settings()}.reaptop-backup`, 'utf8')).toBe(ODD);
    expect(readFileSync(settings(), 'utf8')).not.toBe(ODD);
    await uninstallHooks(ground(), USER);
    expect(readFileSync(settings(), 'utf8')).toBe(ODD);
    expect(readdirSync(join(sandbox.home, '.claude'))).toEqual(['settings.json']);
  });

  it('twice is once, also when the second brings more, and the bytes from before come back', async () => {
    put(ODD);
    await installHooks(ground(), { ...USER, only: ['Stop'] });
    const first = readFileSync(settings(), 'utf8');
    await installHooks(ground(), { ...USER, only: ['Stop'] });
    expect(readFileSync(settings(), 'utf8')).toBe(first);
    expect(said).toContain('nothing was changed');
    await installHooks(ground(), USER);
    await uninstallHooks(ground(), USER);
    expect(readFileSync(settings(), 'utf8')).toBe(ODD);
  });

  it('a file that was not there before is not there afterwards', async () => {
    await installHooks(ground(), USER);
    expect(existsSync(settings())).toBe(true);
    await uninstallHooks(ground(), USER);
    expect(existsSync(join(sandbox.home, '.claude'))).toBe(false);
  });

  it('what somebody else changed meanwhile stays', async () => {
    put('{\n  "model": "opus"\n}\n');
    await installHooks(ground(), USER);
    writeFileSync(settings(), readFileSync(settings(), 'utf8').replace('"opus"', '"haiku"'));
    await uninstallHooks(ground(), USER);
    expect(readFileSync(settings(), 'utf8')).toBe('{\n  "model": "haiku"\n}\n');
    expect(readFileSync(`${settings()}.reaptop-backup`, 'utf8')).toContain('opus');
  });

  it('a link stays a link, and its file keeps its mode', async () => {
    const real = sandbox.write('dotfiles/settings.json', '{}\n', 0o640);
    mkdirSync(join(sandbox.home, '.claude'));
    symlinkSync(real, settings());
    await installHooks(ground(), USER);
    expect(lstatSync(settings()).isSymbolicLink()).toBe(true);
    expect(readlinkSync(settings())).toBe(real);
    expect(readFileSync(real, 'utf8')).toContain('hook Stop');
    expect(statSync(real).mode & 0o777).toBe(0o640);
    await uninstallHooks(ground(), USER);
    expect([lstatSync(settings()).isSymbolicLink(), readFileSync(real, 'utf8')]).toEqual([true, '{}\n']);
  });

  it('--project writes beside the project, CLAUDE_CONFIG_DIR is where the user’s settings are', async () => {
    await installHooks(ground(), { ...USER, scope: 'project' });
    expect(readdirSync(sandbox.path('work/.claude'))).toEqual(['settings.local.json']);
    const elsewhere = { ...ground(), env: { ...sandbox.env, CLAUDE_CONFIG_DIR: sandbox.path('config') } };
    await installHooks(elsewhere, USER);
    expect(existsSync(sandbox.path('config/settings.json'))).toBe(true);
    expect(existsSync(settings())).toBe(false);
  });

  it('--shared writes what is silent for a colleague without reaptop', async () => {
    await installHooks(ground(), { ...USER, scope: 'shared', only: ['Stop'] });
    const file = sandbox.path('work/.claude/settings.json');
    const { hooks } = JSON.parse(readFileSync(file, 'utf8'));
    const { command } = hooks.Stop[0].hooks[0];
    const run = (PATH: string) => {
      const { status, stdout, stderr } = spawnSync('/bin/sh', ['-c', command], {
        env: { PATH },
        encoding: 'utf8',
      });
      return [status, stdout, stderr];
    };
    expect(run('/nowhere')).toEqual([0, '', '']);
    sandbox.write('bin/reaptop', '#!/bin/sh\necho "$@"\n', 0o755);
    expect(run(sandbox.path('bin'))).toEqual([0, 'hook Stop\n', '']);
    await installHooks(ground(), { ...USER, scope: 'shared', only: ['Stop'] });
    expect(said).toContain('nothing was changed');
    await uninstallHooks(ground(), { ...USER, scope: 'shared' });
    expect(existsSync(file)).toBe(false);
  });

  it('replaces and removes only what is exactly ours', async () => {
    const theirs = [
      'node /opt/other/cli.js hook Stop',
      "'/usr/bin/node' '/opt/other/dist/cli.js' hook Stop",
      'my-reaptop hook Stop',
      'reaptop hook Stop && notify',
      'cd x; reaptop hook Stop',
      'reaptop hook Stop --mine',
    ];
    const text = JSON.stringify({
      hooks: { Stop: [{ hooks: theirs.map(command => ({ type: 'command', command })) }] },
    });
    put(text);
    await installHooks(ground(), { ...USER, only: ['Stop'] });
    const commands = (): string[] =>
      JSON.parse(readFileSync(settings(), 'utf8')).hooks.Stop.flatMap(
        ({ hooks }: { hooks: { command: string }[] }) => hooks.map(({ command }) => command),
      );
    expect(commands()).toEqual([...theirs, expect.stringContaining("'/opt/reaptop/dist/cli.js' hook Stop")]);
    // As if somebody had edited it: then hooks are taken out one by one.
    writeFileSync(settings(), `${readFileSync(settings(), 'utf8')}\n`);
    await uninstallHooks(ground(), USER);
    expect(commands()).toEqual(theirs);
  });

  it('knows another installation of itself by its package', async () => {
    sandbox.write('lib/package.json', '{"name":"reaptop"}');
    const script = sandbox.write('lib/dist/cli.js', '', 0o755);
    await installHooks({ ...ground(), script }, { ...USER, only: ['Stop'] });
    await installHooks(ground(), { ...USER, only: ['Stop'] });
    const text = readFileSync(settings(), 'utf8');
    expect([text.includes(script), text.split(' hook Stop').length]).toEqual([false, 2]);
  });

  it('an edit that another program makes meanwhile is kept, and ours comes on top', async () => {
    put('{}');
    let isDone = false;
    // Asked for after the file was read, and before it is written.
    const env = Object.defineProperty({ ...sandbox.env }, 'XDG_STATE_HOME', {
      get: () => {
        if (!isDone) put('{"model":"opus"}');
        isDone = true;
        return sandbox.env.XDG_STATE_HOME;
      },
    });
    const meddling = { ...ground(), env };
    expect(await installHooks(meddling, { ...USER, only: ['Stop'] })).toBe(0);
    const { model, hooks } = JSON.parse(readFileSync(settings(), 'utf8'));
    expect([model, hooks.Stop.length]).toEqual(['opus', 1]);
    expect(readFileSync(`${settings()}.reaptop-backup`, 'utf8')).toBe('{"model":"opus"}');
  });

  it('a project whose settings lead out of it is left as it is', async () => {
    const outside = sandbox.write('elsewhere/settings.json', '{}');
    symlinkSync(sandbox.path('elsewhere'), sandbox.path('work/.claude'));
    for (const scope of ['project', 'shared'] as const)
      await expect(installHooks(ground(), { ...USER, scope })).rejects.toThrow('leads out of the project');
    expect([readdirSync(sandbox.path('elsewhere')), readFileSync(outside, 'utf8')]).toEqual([
      ['settings.json'],
      '{}',
    ]);
  });

  it('a dry run prints the difference and changes nothing', async () => {
    put('{\n  "model": "opus"\n}\n');
    await installHooks(ground(), { ...USER, only: ['Stop'], dryRun: true });
    expect(said).toMatch(/-\s+"model": "opus"\n\+\s+"model": "opus",\n\+\s+"hooks": \{/);
    expect(readdirSync(join(sandbox.home, '.claude'))).toEqual(['settings.json']);
    expect(readFileSync(settings(), 'utf8')).toBe('{\n  "model": "opus"\n}\n');
  });

  test.each<[string, () => void, RegExp]>([
    ['no JSON', () => put('{"a":'), /was not changed: it is not valid JSON/],
    ['hooks twice', () => put('{"hooks":{},"a":1,"hooks":{}}'), /it has "hooks" more than once/],
    ['one event twice', () => put('{"hooks":{"Stop":[],"Stop":[]}}'), /it has "hooks\.Stop" more than once/],
    ['a directory', () => mkdirSync(settings(), { recursive: true }), /it is not a regular file/],
    [
      'a link that leads nowhere',
      () => {
        mkdirSync(join(sandbox.home, '.claude'));
        symlinkSync('nowhere', settings());
      },
      /a broken link/,
    ],
    [
      'no UTF-8',
      () => {
        put('');
        writeFileSync(settings(), Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]));
      },
      /not UTF-8/,
    ],
  ])('%s is left as it is', async (_, make, why) => {
    make();
    await expect(installHooks(ground(), USER)).rejects.toThrow(why);
    await expect(uninstallHooks(ground(), USER)).rejects.toThrow(why);
  });

  it('says that there is nothing to take out', async () => {
    await uninstallHooks(ground(), USER);
    expect(said).toContain('There are no hooks of reaptop');
  });
});

describe('how a hook starts us', () => {
  it('by name when that name in PATH is this very program', () => {
    const script = sandbox.write('lib/dist/cli.js', '#!/usr/bin/env node\n', 0o755);
    symlinkSync(script, sandbox.path('bin/reaptop'));
    const env = { PATH: `/nowhere:${sandbox.path('bin')}` };
    expect(ownCommand(script, env)).toBe('reaptop');
    rmSync(sandbox.path('bin/reaptop'));
    sandbox.write('bin/reaptop', '#!/bin/sh\n', 0o755);
    expect(ownCommand(script, env)).toBe(`'${process.execPath}' '${script}'`);
  });

  it('a path with a quote in it is quoted', () => {
    const script = sandbox.write("it's/cli.js", '', 0o755);
    expect(ownCommand(script, { PATH: '' })).toContain(String.raw`/it'\''s/cli.js'`);
  });
});

it('status says where hooks are, which are missing, and who beats', async () => {
  await installHooks(ground(), { ...USER, only: ['Stop', 'PostToolUse'] });
  await new HookSession(sandbox).send('PostToolUse');
  said = '';
  hookStatus(ground());
  expect(said).toContain('settings.json: 2 hooks (not SessionStart, UserPromptSubmit');
  expect(said).toContain('work/.claude/settings.local.json: no hooks of reaptop');
  expect(said).toContain('work/.claude/settings.json: no hooks of reaptop');
  expect(said).toMatch(/session-one\s+\S+ ago\s+Bash/);
});

it('a directory that may not be written is one sentence', async () => {
  if (process.geteuid?.() === 0) sandbox.write('home/.claude', 'a file');
  else {
    mkdirSync(join(sandbox.home, '.claude'));
    chmodSync(join(sandbox.home, '.claude'), 0o500);
  }
  const code = await installHooks(ground(), USER).catch((error: Error) => error.message);
  expect(code).not.toBe(0);
});
