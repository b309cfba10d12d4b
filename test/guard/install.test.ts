import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  elsewhereText,
  install,
  lastingNode,
  plistText,
  uninstall,
  unitText,
} from '../../src/commands/guard-install.ts';
import { guardWords } from '../../src/commands/register.ts';
import type { CommandResult } from '../../src/observe/run-command.ts';
import { lacking } from '../support/lacking.ts';
import { Sandbox } from '../support/sandbox.ts';

let sandbox: Sandbox;
let said: { out: string; err: string };
let asked: string[];
beforeEach(() => {
  sandbox = new Sandbox({ firstRun: true });
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
    const run = async (_: string, args: readonly string[]): Promise<CommandResult> =>
      args[0] === 'print' && asked.push('print') === 1 ? { ...DONE, code: 113 } : DONE;
    expect(await install(REAL, dependencies({ platform: 'darwin', run }))).toBe(0);
    expect(existsSync(sandbox.path('home/Library/LaunchAgents/dev.reaptop.guard.plist'))).toBe(true);
  });

  test('on a Mac a second time waits until the first guard has gone, and looks whether the new one runs', async () => {
    // As launchd: bootout only begins the end, and until then bootstrap answers with an error.
    let ending = 0;
    let loaded = true;
    const run = async (program: string, args: readonly string[]): Promise<CommandResult> => {
      asked.push([program, ...args].join(' '));
      if (ending > 0) {
        ending -= 1;
        if (ending === 0) loaded = false;
      }
      if (args[0] === 'bootout') ending = 4;
      const fails = args[0] === 'print' ? !loaded : args[0] === 'bootstrap' && loaded;
      if (args[0] === 'bootstrap' && !loaded) loaded = true;
      return fails ? { ...DONE, code: 5, stderr: 'Input/output error' } : DONE;
    };
    const pause = async () => {};
    expect(await install(REAL, dependencies({ platform: 'darwin', run, pause }))).toBe(0);
    const words = asked.map(line => line.split(' ')[1]);
    expect(words.slice(-2)).toEqual(['bootstrap', 'print']);
    expect([loaded, ending]).toEqual([true, 0]);
    expect(words.filter(word => word === 'print').length).toBeGreaterThan(2);
  });

  test('on a Mac says so when the new one never comes up', async () => {
    const run = async (_: string, args: readonly string[]): Promise<CommandResult> =>
      args[0] === 'bootout' ? DONE : { ...DONE, code: 5, stderr: 'Input/output error' };
    expect(await install(REAL, dependencies({ platform: 'darwin', run, pause: async () => {} }))).toBe(1);
    expect(said.err).toContain('Input/output error');
  });

  test('on a Mac its Node is the one that PATH names, which an upgrade does not take away', () => {
    sandbox.write('Cellar/node/24.1.0/bin/node', '');
    const cellar = sandbox.path('Cellar/node/24.1.0/bin/node');
    mkdirSync(sandbox.path('homebrew/bin'), { recursive: true });
    symlinkSync(cellar, sandbox.path('homebrew/bin/node'));
    const path = `/nowhere:relative:${sandbox.path('homebrew/bin')}`;
    expect(lastingNode(path, cellar)).toBe(sandbox.path('homebrew/bin/node'));
    expect(lastingNode('/nowhere', cellar)).toBe(cellar);
  });
});

describe('the files', () => {
  const COMMAND = ['/opt/my node/bin/node', '/home/a&b/50%/$HOME/"cli".js', 'guard'];

  test('systemd reads a command with spaces, percents, dollars and quotes as it is', () => {
    expect(unitText(COMMAND)).toContain(
      'ExecStart="/opt/my node/bin/node" "/home/a&b/50%%/$$HOME/\\"cli\\".js" guard',
    );
  });

  test('launchd does as well, finds Homebrew’s programs and keeps what is printed', () => {
    const text = plistText(COMMAND, '/Users/a&b');
    expect(text).toContain('<string>/home/a&amp;b/50%/$HOME/&quot;cli&quot;.js</string>');
    expect(text).toContain('<string>/opt/homebrew/bin:');
    expect(text).toContain('<string>/Users/a&amp;b/Library/Logs/reaptop-guard.log</string>');
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
  expect(guardWords(asked, '/here')).toEqual([]);
  expect(
    guardWords(
      { ...asked, config: 'own.json', platform: 'portable', poll: true, root: ['.', '/else'], interval: 20 },
      '/here',
    ).join(' '),
  ).toBe('--interval 20 --config /here/own.json --platform portable --poll --root /here /else');
});
