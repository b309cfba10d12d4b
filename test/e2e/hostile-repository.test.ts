import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI } from '../support/cli.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let repository: string;
beforeEach(() => {
  sandbox = new Sandbox();
  repository = sandbox.path('work');
});
afterEach(() => sandbox.close());

const put = (path: string, content: string | object): string => {
  const full = join(repository, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, typeof content === 'string' ? content : JSON.stringify(content));
  return full;
};

interface Run {
  readonly cpuSeconds: number;
  readonly warnings: readonly string[];
  readonly heartbeats: readonly { readonly path: string }[];
}

/** CPU seconds, not elapsed ones: they are the same on a quiet machine, and a busy one proves nothing. */
const once = (args: readonly string[] = []): Run => {
  const ran = spawnSync(
    'bash',
    ['-c', 'TIMEFORMAT="cpu %U %S"; time "$@"', 'sh', process.execPath, CLI, '--once', '--json', ...args],
    {
      cwd: repository,
      env: sandbox.env,
      encoding: 'utf8',
      timeout: 60_000,
      maxBuffer: 256 * 1024 ** 2,
    },
  );
  expect(ran.signal).toBe(null);
  expect({ status: ran.status, stderr: ran.stderr }).toMatchObject({ status: 0 });
  const [, user, system] = /cpu ([\d.]+) ([\d.]+)/.exec(ran.stderr) ?? [];
  return { cpuSeconds: Number(user) + Number(system), ...JSON.parse(ran.stdout) };
};

/** Half a second of it is Node, our own code and the machine's processes on a machine that is busy. */
const LIMIT = 2.5;

describe('whatever a repository contains, a snapshot takes no longer than two seconds', () => {
  it('patterns made to backtrack', () => {
    put('.reaptop.json', {
      protect: [`${'*e'.repeat(200)}*#!`, ...Array.from({ length: 2000 }, (_, i) => `*a*b*c*${i}*`)],
      heartbeats: [
        { name: 'stars', glob: `${'*a'.repeat(20)}b` },
        { name: 'deep', glob: `${'**/'.repeat(40)}x.json` },
        { name: 'braces', glob: '{a,b}'.repeat(60) },
        ...Array.from({ length: 200 }, (_, i) => ({ name: `n${i}`, glob: `**/a/**/a/**/*${i}.json` })),
      ],
    });
    put(`${'a/'.repeat(60)}x.json`, '{}');
    for (let i = 0; i < 200; i++) put(`wide/${i}/${'a'.repeat(200)}`, '');
    const { cpuSeconds, warnings } = once();
    expect(cpuSeconds).toBeLessThan(LIMIT);
    expect(warnings.filter(text => text.includes('.reaptop.json'))).toHaveLength(1);
  });

  it('40,000 names in one directory, all of which may be meant', () => {
    put('.reaptop.json', { heartbeats: [{ name: 'all', glob: 'pile/*' }] });
    mkdirSync(join(repository, 'pile'));
    put('pile/first', '{}');
    execFileSync('bash', ['-c', 'cd pile && seq 1 40000 | xargs -n 2000 touch'], { cwd: repository });
    const { cpuSeconds, warnings } = once();
    expect(cpuSeconds).toBeLessThan(LIMIT);
    expect(warnings.join()).toMatch(/looked at|left out|not read/);
  });

  it('links in circles, pipes, devices, and half a gigabyte under every known name', () => {
    const names = [
      '.agent-progress.json',
      '.postflight-pending',
      '.postflight-loop-guard',
      '.return-meta.json',
    ];
    for (const [i, name] of names.entries()) {
      mkdirSync(join(repository, `specs/${i}_pipe`), { recursive: true });
      execFileSync('mkfifo', [join(repository, `specs/${i}_pipe`, name)]);
      truncateSync(put(`specs/${i}_huge/${name}`, ''), 512 * 1024 ** 2);
      mkdirSync(join(repository, `specs/${i}_device`));
      symlinkSync('/dev/zero', join(repository, `specs/${i}_device`, name));
      symlinkSync('/etc/passwd', join(repository, `specs/${i}_device`, `.return-meta-${i}.json`));
      symlinkSync(repository, join(repository, `specs/${i}_loop`));
    }
    for (const name of ['.mcp.json', '.reaptop.json']) execFileSync('mkfifo', [join(repository, name)]);
    put('.agent-workspace/TASK-1/AGENT_REGISTRY.json', `{"agents":[${'{"id":"a"},'.repeat(200_000)}{}]}`);
    const { cpuSeconds, heartbeats } = once();
    expect(cpuSeconds).toBeLessThan(LIMIT);
    expect(heartbeats.filter(({ path }) => /pipe|device|loop\//.test(path))).toEqual([]);
    expect(heartbeats.filter(({ path }) => path.includes('_huge/'))).toHaveLength(4);
  });

  it('names that would talk to the terminal: they are spelled out everywhere, and nothing is done by them', () => {
    const name = '2_b\u001b]52;c;QUJD\u0007\u202ex\u009b31m';
    const left = ['.agent-progress.json', '.postflight-pending'].map(file =>
      put(`specs/${name}/${file}`, '{}'),
    );
    const longAgo = new Date(Date.now() - 3 * 86_400_000);
    for (const path of left) utimesSync(path, longAgo, longAgo);
    for (const args of [
      ['--once'],
      ['--once', '--json'],
      ['sweep'],
      ['sweep', '--json'],
      ['sweep', '--force'],
    ]) {
      const { stdout, stderr } = spawnSync(process.execPath, [CLI, ...args], {
        cwd: repository,
        env: { ...sandbox.env, COLUMNS: '500' },
        encoding: 'utf8',
      });
      const raw = `${stdout}${stderr}`.match(/[^\n -~…→×·•│├└─]/g);
      expect([args, raw]).toEqual([args, null]);
      expect(stdout).toContain(args.includes('--json') ? '2_b\\\\x1b]52' : '2_b\\x1b]52');
    }
    expect(left.every(path => existsSync(path))).toBe(true);
  });

  it('pipes as --config and --from', () => {
    execFileSync('mkfifo', [join(repository, 'pipe')]);
    for (const flag of ['--config', '--from']) {
      const ran = spawnSync(process.execPath, [CLI, '--once', flag, 'pipe'], {
        cwd: repository,
        env: sandbox.env,
        encoding: 'utf8',
        timeout: 30_000,
      });
      expect({ flag, status: ran.status, signal: ran.signal }).toEqual({ flag, status: 2, signal: null });
      expect(ran.stderr).toMatch(/^reaptop: .*regular file/);
    }
  });
});
