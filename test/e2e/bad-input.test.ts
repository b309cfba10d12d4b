import { existsSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CliOptions, type CliResult, reaptop } from '../support/cli.ts';
import { isRunning } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeAll(() => {
  sandbox = new Sandbox();
});
afterAll(() => sandbox.close());

const STACK = /^\s+at .*:\d+|node:internal|Error:/m;

/** One sentence that names the culprit, and nothing that only a programmer reads. */
const refusal = async (
  args: readonly string[],
  code: number,
  options: CliOptions = {},
): Promise<CliResult> => {
  const result = await reaptop(sandbox, args, options);
  expect(result.stderr).not.toMatch(STACK);
  expect(result.stdout).toBe('');
  expect(result.stderr).toMatch(/^reaptop: .+\n/);
  expect({ code: result.code, stderr: result.stderr }).toMatchObject({ code });
  return result;
};

describe('a wrong flag or number exits 2, with a sentence and then the usage line', () => {
  it.each<[string, string[], RegExp]>([
    ['unknown flag', ['--frobnicate'], /'--frobnicate'/],
    ['no number', ['--once', '--interval', 'soon'], /'soon' is invalid.*number from 0.2 to 3600/],
    ['number out of bounds', ['--once', '--interval', '-1'], /number from/],
    ['unknown severity', ['--once', '--fail-on', 'disaster'], /'disaster'.*info, warn, critical/],
    ['unknown backend', ['--once', '--platform', 'windows'], /'windows'.*auto, procfs, darwin, portable/],
    ['unknown command', ['frobnicate'], /'frobnicate'/],
    [
      'help for an unknown command',
      ['help', 'frobnicate'],
      /no command or topic 'frobnicate'; reaptop help lists them\nUsage: /,
    ],
    ['nearly a topic', ['help', 'confg'], /no command or topic 'confg'; did you mean config\?\nUsage: /],
    ['nearly a command', ['claen'], /no command 'claen'; did you mean clean\?\nUsage: /],
    ['nearly an action', ['guard', 'stat'], /guard stat: no such action; did you mean status\?\nUsage: /],
    ['no action', ['guard', 'xyz'], /guard xyz: no such action; use one of: install, /],
    [
      'nearly an action of hook',
      ['hook', 'instal'],
      /hook instal: no such action; did you mean install\?\nUsage: /,
    ],
    ['nearly a flag', ['--onc'], /'--onc'\n\(Did you mean --once\?\)\nUsage: /],
    ['nearly a flag of a command', ['clean', '--forc'], /'--forc'\n\(Did you mean --force\?\)\nUsage: /],
    ['missing value', ['--once', '--from'], /--from/],
    [
      'an invented machine without its screen',
      ['--demo', '--once'],
      /--demo needs a terminal and can't be combined/,
    ],
    ['an invented machine without a terminal', ['--demo'], /needs a terminal/],
    ['an argument that a command does not take', ['clean', '1234'], /clean does not take '1234'/],
    [
      'a moment of the past for whoever acts',
      ['clean', '--at', '-2h', '--force'],
      /clean can't be combined with --at/,
    ],
    [
      'an invented machine for whoever acts',
      ['--demo', 'sweep', '--force'],
      /sweep can't be combined with --demo/,
    ],
    ['a command that our flags are part of', ['exclusive', 'echo', 'a', '--all'], /stands after --/],
    ['a task that is not there, told by another chunk', ['beat', '--task', '7'], /--task needs a directory/],
    [
      'a file that is not there, told by another chunk',
      ['doctor', '--from', '/nowhere'],
      /\/nowhere does not/,
    ],
  ])('%s', async (_, args, says) => {
    const { stderr } = await refusal(args, 2);
    expect(stderr).toMatch(says);
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/^Usage: reaptop /);
  });
});

describe('a config that is wrong exits 2 with the path of what is wrong', () => {
  it.each<[string, string, RegExp]>([
    [
      'an unknown key',
      '{"thresholds": {"leak": {"bytes": 1}}}',
      /thresholds\.leak\.bytes: unknown key.*criticalBytes/,
    ],
    ['a wrong type', '{"protect": ["ok", 7]}', /protect\.1: .*string/],
    ['half a file', '{"protect": [', /not valid JSON/],
  ])('%s', async (_, content, says) => {
    const path = sandbox.write('config.json', content);
    const { stderr } = await refusal(['--once', '--config', path], 2);
    expect(stderr).toContain(path);
    expect(stderr).toMatch(says);
  });

  it('a file that is not there, or a directory', async () => {
    expect((await refusal(['--once', '--config', '/nowhere.json'], 2)).stderr).toContain('/nowhere.json');
    expect((await refusal(['--once', '--config', sandbox.home], 2)).stderr).toContain(sandbox.home);
  });

  it('the user’s own file, found by itself', async () => {
    const own = new Sandbox();
    try {
      const path = own.write('home/.config/reaptop/config.json', '{"theme": "pink"}');
      const { code, stderr } = await reaptop(own, ['--once']);
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(`${path}: theme`) });
    } finally {
      await own.close();
    }
  });
});

describe('a recorded table that is none exits 2 and says what is needed', () => {
  it.each<[string, string | Buffer, RegExp]>([
    ['empty', '', /is empty.*PID and COMMAND/],
    ['binary', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1, 2, 3]), /not text/],
    ['half of our JSON', '{"schema": 1, "processes": [{"pid": 1,', /ends in the middle/],
    [
      'a listing without its header',
      '  123 pts/0 00:00:01 bash\n  124 pts/0 00:00:00 claude\n',
      /no header row/,
    ],
    ['a header alone', 'PID PPID COMMAND\n', /no process below it/],
  ])('%s', async (_, input, says) => {
    expect((await refusal(['--once', '--from', '-'], 2, { input })).stderr).toMatch(says);
  });

  it('a file that is not there, a directory, 50 MB', async () => {
    expect((await refusal(['--once', '--from', '/nowhere'], 2)).stderr).toMatch(/\/nowhere does not exist/);
    mkdirSync(sandbox.path('folder'));
    expect((await refusal(['--once', '--from', sandbox.path('folder')], 2)).stderr).toMatch(/is a directory/);
    const huge = sandbox.path('huge');
    writeFileSync(huge, '');
    truncateSync(huge, 50 * 1024 ** 2);
    expect((await refusal(['--once', '--from', huge], 2)).stderr).toMatch(/larger than 32 MiB/);
  });

  it('50 MB through a pipe', async () => {
    const input = Buffer.alloc(50 * 1024 ** 2, '  1 0 ? S 1 00:01 x\n');
    expect((await refusal(['--once', '--from', '-'], 2, { input })).stderr).toMatch(/larger than 32 MiB/);
  });
});

describe('a poor environment', () => {
  const works = async (env: NodeJS.ProcessEnv, args: readonly string[] = []): Promise<CliResult> => {
    const result = await reaptop(sandbox, ['--once', ...args], { env });
    expect({ code: result.code, stderr: result.stderr }).toEqual({ code: 0, stderr: '' });
    expect(result.stdout).toMatch(/^reaptop .*processes/);
    return result;
  };

  it('without HOME and without PATH it still looks', async () => {
    await works({ HOME: undefined, XDG_CONFIG_HOME: undefined, XDG_STATE_HOME: undefined });
    await works({ HOME: '', XDG_CONFIG_HOME: '', PATH: '' });
    await works({ HOME: '/nowhere', XDG_CONFIG_HOME: undefined, TERM: undefined, LANG: undefined });
  });

  it('without ps the portable backend says so and exits 1', async () => {
    const { stderr } = await refusal(['--once', '--platform', 'portable'], 1, { env: { PATH: '/nowhere' } });
    expect(stderr).toMatch(/\bps\b/);
  });

  it('without tmux in PATH, panes are unknown and the answer says why', async () => {
    sandbox.tmux('new-session', '-d', '-s', 'panes', `${sandbox.sleeper('mcp-server-github')} 600`);
    const server = await sandbox.find('the server', p => p.comm === 'mcp-server-gith');
    const { stdout } = await works({ PATH: '/nowhere' });
    expect(stdout).toMatch(/^! .*tmux/m);
    expect(stdout).toMatch(new RegExp(`^ *${server.pid} .* live `, 'm'));
    sandbox.tmux('kill-server');
  });

  it('a stale tmux socket is no error', async () => {
    sandbox.tmuxWith({}, 'stale', 'new-session', '-d', 'sleep 600');
    const pid = Number(sandbox.tmuxWith({}, 'stale', 'display-message', '-p', '#{pid}'));
    process.kill(pid, 'SIGKILL');
    await until('the server to end', () => !isRunning(pid));
    expect(existsSync(join(sandbox.path('tmux'), `tmux-${process.getuid?.()}`, 'stale'))).toBe(true);
    await works({});
  });

  it('a project’s own file may not loosen anything: one warning, and it goes on', async () => {
    const root = sandbox.path('cloned');
    sandbox.write('cloned/.reaptop.json', '{"thresholds": {"over-memory": {"limitBytes": 1}}}');
    const { stdout } = await works({ COLUMNS: '300' }, ['--root', root]);
    expect(stdout.match(/^! .*$/gm)?.filter(line => line.includes('cloned'))).toHaveLength(1);
    expect(stdout).toMatch(/\.reaptop\.json.*ignored/);
    expect(stdout).not.toMatch(/^critical over-memory/m);
  });
});
