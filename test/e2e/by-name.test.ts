import { spawnSync } from 'node:child_process';
import { cpSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI } from '../support/cli.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
  cpSync(dirname(CLI), sandbox.path("a person's own/dist"), { recursive: true });
  symlinkSync("../a person's own/dist/cli.js", sandbox.path('bin/reaptop'));
});
afterEach(() => sandbox.close());

/** Node says on stderr that it cannot read this, as soon as it tries. */
const CERTIFICATES = '/nowhere/certificates $(echo of) "a company".pem';

const run = (command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
  const PATH = `${sandbox.path('bin')}:${dirname(process.execPath)}:${process.env.PATH}`;
  const { NODE_EXTRA_CA_CERTS: _, ...others } = sandbox.env;
  return spawnSync(command, args, {
    env: { ...others, PATH, ...env },
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

  it('reads no certificates, for which Node would take longer than we do, and hands them on to what it starts', () => {
    const certificates = { NODE_EXTRA_CA_CERTS: CERTIFICATES };
    expect(run(process.execPath, ['-e', '0'], certificates).stderr).toContain('/nowhere/certificates');
    const { stdout, stderr } = run('reaptop', ['exclusive', '--', 'env'], certificates);
    expect(stderr).toBe('');
    expect(stdout.split('\n').filter(line => line.includes('EXTRA_CA_CERTS'))).toEqual([
      `NODE_EXTRA_CA_CERTS=${CERTIFICATES}`,
    ]);
  });

  it('invents none for what it starts where none are named', () => {
    expect(run('reaptop', ['exclusive', '--', 'env']).stdout).not.toContain('EXTRA_CA_CERTS');
  });
});
