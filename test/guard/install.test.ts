import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { install, uninstall } from '../../src/commands/guard-install.ts';
import { wordsOf } from '../../src/commands/guarding.ts';
import { elsewhereText } from '../../src/guard/install/elsewhere.ts';
import { plistText } from '../../src/guard/install/launchd.ts';
import { unitText } from '../../src/guard/install/systemd.ts';
import type { CommandResult } from '../../src/observe/run-command.ts';
import { lacking } from '../support/lacking.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let said: { out: string; err: string };
let asked: string[];
beforeEach(() => {
  sandbox = new Sandbox();
  said = { out: '', err: '' };
  asked = [];
});
afterEach(() => sandbox.close());

const DONE: CommandResult = { status: 'done', code: 0, stdout: '', stderr: '' };

const into = (name: 'out' | 'err') => ({
  isTTY: false,
  write: (text: string): void => {
    said[name] += text;
  },
});

const dependencies = (extra: object = {}) => ({
  env: sandbox.env,
  platform: 'linux' as const,
  hasSystemd: true,
  out: into('out'),
  err: into('err'),
  run: async (program: string, args: readonly string[]): Promise<CommandResult> => {
    asked.push([program, ...args].join(' '));
    return DONE;
  },
  ...extra,
});
const REAL = { dryRun: false, extra: [] };
const unit = (): string => sandbox.path('home/.config/systemd/user/reaptop-guard.service');

describe('guard install', () => {
  test('writes a user unit and starts it; a second time it changes nothing', async () => {
    expect(await install(REAL, dependencies())).toBe(0);
    const before = [readFileSync(unit(), 'utf8'), statSync(unit()).mtimeMs];
    expect(asked).toEqual([
      'systemctl --user daemon-reload',
      'systemctl --user enable reaptop-guard.service',
      'systemctl --user restart reaptop-guard.service',
    ]);
    expect(await install(REAL, dependencies())).toBe(0);
    expect([readFileSync(unit(), 'utf8'), statSync(unit()).mtimeMs]).toEqual(before);
    expect(said.out).toContain('already installed');
    expect(await uninstall(REAL, dependencies())).toBe(0);
    expect(existsSync(unit())).toBe(false);
    expect(await uninstall(REAL, dependencies())).toBe(0);
    expect(said.out).toContain('not installed');
  });

  test.runIf(process.geteuid?.() === 0)(
    'makes nothing in the home of another user, as under sudo',
    async () => {
      chownSync(sandbox.home, 65534, 65534);
      expect(await install(REAL, dependencies())).toBe(1);
      expect([readdirSync(sandbox.home), asked, said.err]).toEqual([
        [],
        [],
        expect.stringContaining('without sudo'),
      ]);
    },
  );

  test('--dry-run prints the file and does nothing', async () => {
    await install({ dryRun: true, extra: ['--metrics', '127.0.0.1:9101'] }, dependencies());
    expect(said.out).toMatch(/^ExecStart=\S+ .+ guard --metrics 127\.0\.0\.1:9101$/m);
    expect(existsSync(unit())).toBe(false);
    expect(asked).toEqual([]);
  });

  test('says which command failed, and how to go on', async () => {
    const run = async (): Promise<CommandResult> => ({
      status: 'done',
      code: 1,
      stdout: '',
      stderr: 'Failed to connect to bus\nmore',
    });
    expect(await install(REAL, dependencies({ run }))).toBe(1);
    expect(said.err).toContain('systemctl --user daemon-reload failed (Failed to connect to bus)');
  });

  test('where there is neither systemd nor launchd says what to put where', async () => {
    expect(await install(REAL, dependencies({ hasSystemd: false }))).toBe(0);
    expect(said.out).toMatch(
      /crontab -e[\s\S]*@reboot .* guard [\s\S]*\*\/5 .* --once[\s\S]*tmux new-session/,
    );
    expect(asked).toEqual([]);
  });

  test('on a Mac writes an agent of launchd', async () => {
    expect(await install(REAL, dependencies({ platform: 'darwin' }))).toBe(0);
    expect(existsSync(sandbox.path('home/Library/LaunchAgents/dev.reaptop.guard.plist'))).toBe(true);
    expect(asked.map(line => line.split(' ')[1])).toEqual(['bootout', 'bootstrap']);
  });
});

describe('the files', () => {
  const COMMAND = ['/opt/my node/bin/node', '/home/a&b/50%/$HOME/"cli".js', 'guard'];

  test('systemd reads a command with spaces, percents, dollars and quotes as it is', () => {
    expect(unitText(COMMAND)).toContain(
      'ExecStart="/opt/my node/bin/node" "/home/a&b/50%%/$$HOME/\\"cli\\".js" guard',
    );
  });

  test('launchd does as well', () => {
    expect(plistText(COMMAND)).toContain('<string>/home/a&amp;b/50%/$HOME/&quot;cli&quot;.js</string>');
  });

  test('the unit passes systemd-analyze verify', () => {
    const path = sandbox.write(
      'reaptop-guard.service',
      unitText([process.execPath, '/etc/hostname', 'guard']),
    );
    const { status, stderr, error } = spawnSync('systemd-analyze', ['verify', '--man=no', '--user', path], {
      encoding: 'utf8',
      env: { ...sandbox.env, XDG_RUNTIME_DIR: sandbox.dir },
    });
    if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT')
      lacking('systemd-analyze is not installed (Debian package "systemd").');
    expect(error).toBeUndefined();
    expect([status, stderr.split('\n').filter(line => line.includes('reaptop-guard'))]).toEqual([0, []]);
  });
});

test('where nobody keeps programs running, what is printed can be pasted and put into a crontab', () => {
  const text = elsewhereText(['/usr/bin/node', "/home/a b/50%/$HOME/it's/cli.js", 'guard']);
  const path = String.raw`'/home/a b/50%/$HOME/it'\''s/cli.js'`;
  expect(text).toContain(`@reboot /usr/bin/node ${path.replace('%', String.raw`\%`)} guard >/dev/null`);
  expect(text).toContain(`*/5 * * * * /usr/bin/node ${path.replace('%', String.raw`\%`)} guard --once`);
  const [, word] = /new-session -d -s reaptop-guard (.*)\n/.exec(text)!;
  expect(spawnSync('sh', ['-c', `printf %s ${word}`], { encoding: 'utf8' }).stdout).toBe(
    `/usr/bin/node ${path} guard`,
  );
});

test('guard is told all that guard install was told, in words that hold in another directory', () => {
  const asked = { interval: 10, grace: 5, color: true, platform: 'auto' } as const;
  expect(wordsOf(asked, '/here')).toEqual([]);
  expect(
    wordsOf(
      { ...asked, config: 'own.json', platform: 'portable', poll: true, root: ['.', '/else'], interval: 20 },
      '/here',
    ).join(' '),
  ).toBe('--interval 20 --config /here/own.json --platform portable --poll --root /here /else');
});
