import { spawn } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { startAgent } from '../../support/agent.ts';
import { CLI, type CliResult, REAPTOP } from '../../support/cli.ts';
import { leaveBehind } from '../../support/leftovers.ts';
import { isRunning } from '../../support/proc.ts';
import { KEY, Pty, type PtyOptions } from '../../support/pty.ts';
import { Sandbox } from '../../support/sandbox.ts';

/** Breaks each thing outside in turn, under each command; beside it stands what the command answers then. */

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(() => sandbox.close());

const COMMANDS = {
  once: ['--once'],
  json: ['--once', '--json'],
  clean: ['clean', '--force', '--age-threshold', '0'],
  sweep: ['sweep'],
  doctor: ['doctor'],
  line: ['--once', '--line'],
  report: ['report'],
  hook: ['hook', 'PostToolUse'],
  guard: ['guard', 'status'],
} as const;
type CommandName = keyof typeof COMMANDS;

/** An exit code and a word of what is said, on whichever stream; nothing else may be said on stderr. */
type Answer = readonly [code: number, says?: RegExp];
const FINE: Answer = [0];

/** What looks at no process answers the same, whatever is wrong with the others. */
const USUAL: Partial<Record<CommandName, Answer>> = { hook: FINE, guard: [1, /guard is not running/] };

interface Fault {
  readonly what: string;
  /** A shell line that starts `"$@"` in the broken world. */
  readonly line?: string;
  readonly breakIt?: () => unknown;
  readonly env?: () => Record<string, string>;
  readonly args?: () => readonly string[];
  readonly asRoot?: boolean;
  /** What all commands answer, and those that differ. */
  readonly all: Answer;
  readonly but?: Partial<Record<CommandName, Answer>>;
}

/** A command that answers nobody: it must not hang us, nor be left behind. */
const hanging = (name: string): void => {
  sandbox.write(`broken/${name}`, '#!/bin/sh\nexec sleep 600\n', 0o755);
};

/** Whichever command comes first makes it; the path may hold variables of the shell. */
const fifo = (path: string): string => `mkdir -p "$(dirname "${path}")"; mkfifo "${path}" 2>/dev/null;`;

const NO_PS = /ps was not found/;
const FULL = /could not be written: ENOSPC/;

const FAULTS: readonly Fault[] = [
  {
    what: 'processes that come and go while they are read',
    line: '(while [ ! -e done.$$ ]; do /bin/true; done) & "$@"; code=$?; : >done.$$; wait; exit $code',
    all: FINE,
  },
  { what: 'no descriptor to spare', line: 'ulimit -n 20; exec "$@"', all: FINE },
  { what: 'a closed stdin', line: 'exec "$@" <&-', all: FINE },
  { what: 'a closed stdout', line: 'exec "$@" >&-', all: FINE, but: { guard: [1] } },
  { what: 'all three closed', line: 'exec "$@" <&- >&- 2>&-', all: FINE, but: { guard: [1] } },
  {
    what: 'a full disk for the output',
    line: 'exec "$@" >/dev/full',
    all: [1, FULL],
    but: { clean: [0, FULL], guard: [1, FULL] },
  },
  {
    what: 'a reader that went away',
    line: '{ "$@" 2>&3 | head -c 1 >/dev/null; } 3>&2',
    all: FINE,
    but: { guard: FINE },
  },
  {
    what: 'tmux that does not answer',
    breakIt: () => {
      sandbox.tmux('new-session', '-d', 'sleep 600');
      hanging('tmux');
    },
    env: () => ({ PATH: `${sandbox.path('broken')}:${process.env.PATH}` }),
    all: [0, /tmux server .* cannot be asked \(did not answer/],
    but: { doctor: [0, /fail tmux: /], line: FINE, report: FINE },
  },
  {
    what: 'tmux that is missing while a server runs',
    breakIt: () => {
      sandbox.tmux('new-session', '-d', 'sleep 600');
      mkdirSync(sandbox.path('nothing'));
    },
    env: () => ({ PATH: sandbox.path('nothing') }),
    all: [0, /tmux is not installed or not in PATH/],
    but: { doctor: [0, /fail tmux: /], line: FINE, report: FINE },
  },
  {
    what: 'ps that is missing',
    breakIt: () => mkdirSync(sandbox.path('nothing')),
    env: () => ({ PATH: sandbox.path('nothing') }),
    args: () => ['--platform', 'portable'],
    all: [1, NO_PS],
    but: { doctor: [0, /fail processes: .*ps was not found/], report: FINE },
  },
  {
    what: 'ps that does not answer',
    breakIt: () => hanging('ps'),
    env: () => ({ PATH: `${sandbox.path('broken')}:${process.env.PATH}` }),
    args: () => ['--platform', 'portable'],
    all: [1, /ps did not answer within 10 s/],
    but: { doctor: [0, /fail processes: .*ps did not answer/], report: FINE },
  },
  {
    what: 'a root that was deleted',
    args: () => ['--root', sandbox.path('deleted')],
    all: [0, /--root .*deleted: there is no such directory/],
    but: { doctor: FINE, line: FINE, report: FINE },
  },
  {
    what: 'a working directory that was deleted',
    line: 'mkdir gone.$$; cd gone.$$; rmdir ../gone.$$; exec "$@"',
    all: FINE,
  },
  {
    what: 'a pipe in the place of the config',
    line: `${fifo('$XDG_CONFIG_HOME/reaptop/config.json')} exec "$@"`,
    all: [2, /config\.json cannot be read/],
    but: { doctor: [0, /fail config: /], report: FINE, guard: [2, /config\.json cannot be read/] },
  },
  {
    what: 'a directory in the place of the config',
    breakIt: () => mkdirSync(sandbox.path('home/.config/reaptop/config.json'), { recursive: true }),
    all: [2, /config\.json cannot be read \(EISDIR\)/],
    but: { doctor: [0, /fail config: /], report: FINE, guard: [2, /config\.json cannot be read \(EISDIR\)/] },
  },
  {
    what: 'a device as the config',
    args: () => ['--config', '/dev/zero'],
    all: [2, /\/dev\/zero cannot be read/],
    but: { doctor: [0, /fail config: /], report: FINE, guard: [2, /\/dev\/zero cannot be read/] },
  },
  {
    what: 'pipes in the place of a session, a heartbeat and the audit log',
    line: `${['$HOME/.claude/sessions/1.json', 'specs/1/.agent-progress.json', '$XDG_STATE_HOME/reaptop/audit.jsonl'].map(path => fifo(path)).join(' ')} chmod 700 "$XDG_STATE_HOME/reaptop"; exec "$@"`,
    all: [0],
    but: { doctor: [0, /claude-files: .*1\.json/] },
  },
  {
    what: 'a state directory of another user',
    asRoot: true,
    breakIt: () => {
      mkdirSync(sandbox.path('home/.local/state/reaptop'), { recursive: true });
      chownSync(sandbox.path('home/.local/state/reaptop'), 65534, 65534);
    },
    all: FINE,
    but: { doctor: [0, /warn state: .*another user/] },
  },
  {
    what: 'the rights of nobody',
    asRoot: true,
    line: `mkdir /tmp/reaptop-open.$$ && cp -r '${CLI.replace(/\/cli\.js$/, '')}' /tmp/reaptop-open.$$/dist && chmod -R a+rX /tmp/reaptop-open.$$; node=$1; shift 2; env HOME=/nonexistent XDG_CONFIG_HOME= XDG_STATE_HOME= XDG_CACHE_HOME= setpriv --reuid=65534 --regid=65534 --clear-groups "$node" /tmp/reaptop-open.$$/dist/cli.js "$@"; code=$?; rm -rf /tmp/reaptop-open.$$; exit $code`,
    all: FINE,
    but: { doctor: [0, /fail state: /] },
  },
  { what: 'the C locale', env: () => ({ LANG: 'C', LC_ALL: 'C' }), all: FINE },
  { what: 'a dumb terminal of 20 columns', env: () => ({ TERM: 'dumb', COLUMNS: '20' }), all: FINE },
  {
    what: 'a clock that is set back an hour at every look',
    breakIt: () =>
      sandbox.write(
        'broken/clock.cjs',
        'const real = Date.now; let back = 0; Date.now = () => real() - 3_600_000 * (back += 1);',
      ),
    env: () => ({ NODE_OPTIONS: `--require=${sandbox.path('broken/clock.cjs')}` }),
    all: FINE,
  },
];

const STACK = /^\s+at .*:\d+|node:internal|^\w*Error:/m;

const run = (name: CommandName, { line = 'exec "$@"', env, args }: Fault): Promise<CliResult> =>
  new Promise(resolve => {
    const words = [process.execPath, CLI, ...COMMANDS[name], ...(args?.() ?? [])];
    const child = spawn('/bin/sh', ['-c', line, 'sh', ...words], {
      env: { ...sandbox.env, ...env?.() },
      cwd: sandbox.path('work'),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 30_000,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', text => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', text => (stderr += text));
    child.on('close', code => resolve({ code, stdout, stderr }));
  });

describe('each command, with something broken', () => {
  const mine = FAULTS.filter(fault => fault.asRoot !== true || process.getuid?.() === 0);
  test.each(mine.map(fault => [fault.what, fault] as const))('%s', async (_, fault) => {
    fault.breakIt?.();
    const names = Object.keys(COMMANDS) as CommandName[];
    const results = await Promise.all(names.map(async name => ({ name, ...(await run(name, fault)) })));
    const answerOf = (name: CommandName): Answer => fault.but?.[name] ?? USUAL[name] ?? fault.all;
    expect(results.map(({ name, code, stderr }) => ({ name, code, stderr }))).toEqual(
      names.map(name => ({
        name,
        code: answerOf(name)[0],
        stderr: answerOf(name)[1] === undefined ? '' : expect.any(String),
      })),
    );
    for (const { name, stdout, stderr } of results) {
      const [, says] = answerOf(name);
      expect(stderr).not.toMatch(STACK);
      expect(stderr.split('\n').length).toBeLessThanOrEqual(4);
      if (says !== undefined) expect(`${name}: ${stdout}${stderr}`).toMatch(says);
    }
  });
});

describe('clearing, with something broken', () => {
  it('goes on without a record when the place of the audit log is a pipe, and says so', async () => {
    const [leak] = await leaveBehind(sandbox, `${sandbox.sleeper('mcp-server-faults')} 600`);
    const line = `${fifo('$XDG_STATE_HOME/reaptop/audit.jsonl')} exec "$@"`;
    const { code, stdout, stderr } = await run('clean', { what: '', line, all: FINE });
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('1 ended') });
    expect(stderr).toMatch(/audit\.jsonl could not be written: it is not a regular file/);
    expect(isRunning(leak!.pid, leak!.start)).toBe(false);
  });

  it('is not stopped by a closed output', async () => {
    const [leak] = await leaveBehind(sandbox, `${sandbox.sleeper('mcp-server-faults')} 600`);
    const { code } = await run('clean', { what: '', line: 'exec "$@" >&- 2>&-', all: FINE });
    expect(code).toBe(0);
    expect(isRunning(leak!.pid, leak!.start)).toBe(false);
  });
});

describe('the live screen, with something broken', () => {
  const open = async (options: PtyOptions = {}): Promise<Pty> => {
    await startAgent(sandbox, { children: [`${sandbox.sleeper('mcp-server-x')} 600`] });
    const pty = new Pty(sandbox, options);
    await pty.until('a first screen', () => pty.alternate && pty.text().trim() !== '');
    return pty;
  };
  const leave = async (pty: Pty): Promise<void> => {
    pty.press('q');
    expect(await pty.exit()).toBe(0);
    expect(pty.alternate).toBe(false);
    expect(pty.cursorShown).toBe(true);
    expect(pty.text()).not.toMatch(STACK);
  };

  it('20 columns and 5 rows: it stays, and leaves when asked', async () => {
    const pty = await open({ columns: 20, rows: 5 });
    for (const line of pty.lines()) expect(line.length).toBeLessThanOrEqual(20);
    pty.press('x');
    pty.press(KEY.escape);
    await leave(pty);
  });

  it('the C locale: nothing but ASCII is written', async () => {
    const pty = await open({ env: { LANG: 'C', LC_ALL: 'C' } });
    await pty.shows('mcp-server-x');
    expect(pty.text()).toMatch(/^[\x20-\x7e\n]*$/);
    await leave(pty);
  });

  it('stopped for a while and continued: it goes on', async () => {
    const pty = await open();
    await pty.shows('mcp-server-x');
    process.kill(pty.pid, 'SIGSTOP');
    const late = sandbox.start([sandbox.sleeper('late/claude'), '600']);
    process.kill(pty.pid, 'SIGCONT');
    await pty.shows(String(late.pid));
    await leave(pty);
  });

  it('the clock set back, the root and the working directory removed: it goes on', async () => {
    mkdirSync(sandbox.path('work/root'));
    sandbox.write(
      'broken/clock.cjs',
      'const real = Date.now; const from = real(); Date.now = () => (real() - from > 1500 ? real() - 3_600_000 : real());',
    );
    const pty = await open({
      env: { NODE_OPTIONS: `--require=${sandbox.path('broken/clock.cjs')}` },
      cwd: sandbox.path('work/root'),
      args: ['--interval', '0.5', '--root', '.'],
    });
    await pty.shows('mcp-server-x');
    sandbox.start(['rmdir', sandbox.path('work/root')]);
    const late = sandbox.start([sandbox.sleeper('late/claude'), '600']);
    await pty.shows(String(late.pid));
    await new Promise(done => setTimeout(done, 2000)); // until the clock has been set back
    const later = sandbox.start([sandbox.sleeper('late/claude'), '601']);
    await pty.shows(String(later.pid));
    await leave(pty);
  });

  it('few descriptors: it shows what it can', async () => {
    const pty = await open({
      command: ['/bin/sh', '-c', `ulimit -n 40; exec ${REAPTOP} --interval 0.5`],
    });
    await pty.shows('mcp-server-x');
    await leave(pty);
  });
});
