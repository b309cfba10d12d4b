import { spawnSync } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI } from '../support/cli.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox({ firstRun: true });
  cpSync(dirname(CLI), sandbox.path("a person's own/dist"), { recursive: true });
  symlinkSync("../a person's own/dist/cli.js", sandbox.path('bin/reaptop'));
});
afterEach(() => sandbox.close());

const run = (command: string, args: readonly string[]) => {
  const PATH = `${sandbox.path('bin')}:${dirname(process.execPath)}:${process.env.PATH}`;
  return spawnSync(command, args, {
    env: { ...sandbox.env, PATH },
    cwd: sandbox.path('work'),
    encoding: 'utf8',
  });
};

describe('started by its name, as npm installs it', () => {
  it('runs from wherever its link leads, with its arguments as they are', () => {
    const { status, stdout, stderr } = run('reaptop', [
      'exclusive',
      '--',
      'printf',
      '<%s>',
      'a  b',
      '$HOME',
      '',
    ]);
    expect([status, stdout, stderr]).toEqual([0, '<a  b><$HOME><>', '']);
  });
});
