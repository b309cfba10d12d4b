import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { CLI, REAPTOP, reaptop } from '../support/cli.ts';
import { makeMarker, makeTask } from '../support/hook-session.ts';
import { lacking, needsRootsDirectories } from '../support/lacking.ts';
import { isRunning, type RawProcess } from '../support/proc.ts';
import { Pty } from '../support/pty.ts';
import { MARK, Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
  sandbox.write('work/lean-toolchain', 'leanprover/lean4:v4.27.0');
});
afterEach(() => sandbox.close());

const locks = (): string => join(sandbox.home, '.local/state/reaptop/locks');
const exclusive = (flags: readonly string[], command: string) =>
  reaptop(sandbox, ['exclusive', ...flags, '--', 'sh', '-c', command]);
const endAll = (which: (p: RawProcess) => boolean): void => {
  for (const { pid } of sandbox.running().filter(which)) process.kill(pid, 'SIGKILL');
};
/** Starts one that stays inside until it is ended; gives the pids of wrapper and command. */
const inside = async (name: string) => {
  const told = sandbox.path(`${name}.pid`);
  const wrapper = sandbox.start([
    process.execPath,
    CLI,
    'exclusive',
    '--',
    'sh',
    '-c',
    `echo $$ > ${told}; sleep 600`,
  ]);
  const command = await until('the command to be inside', () => Number(readFileSync(told, 'utf8')));
  return { wrapper, command };
};

test.each([
  ['exit 0', 0],
  ['exit 7', 7],
  ['kill -KILL $$', 137],
])('%s exits %i', async (command, code) => {
  expect((await exclusive([], command)).code).toBe(code);
});

it.each([[['beat']], [['exclusive', '--', 'touch', 'here']]])(
  '%j does nothing in the place of a directory that is gone',
  async args => {
    const command = ['sh', '-c', 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', 'sh'];
    const run = spawnSync(command[0]!, [...command.slice(1), process.execPath, CLI, ...args], {
      cwd: sandbox.path('work'),
      env: sandbox.env,
      encoding: 'utf8',
    });
    expect([run.status, run.stderr]).toEqual([1, expect.stringContaining('no longer exists')]);
  },
);

it('twenty at once: never two inside, and everybody gets in', async () => {
  // mkdir fails when somebody else is inside.
  const once = 'mkdir in || { echo two >> clash; exit 1; }; sleep 0.02; echo done >> done; rmdir in';
  const script = sandbox.write('work/once.sh', once);
  const one = `${REAPTOP} exclusive --wait 50 -- sh '${script}'`;
  const shell = sandbox.start(['/bin/sh', '-c', `for n in $(seq 20); do ${one} & done; wait`]);
  await until('all of them to end', () => !isRunning(shell.pid, shell.start), { timeoutMs: 58_000 });
  expect(existsSync(sandbox.path('work/clash'))).toBe(false);
  expect(readFileSync(sandbox.path('work/done'), 'utf8').trim().split('\n')).toHaveLength(20);
});

describe('while somebody is inside', () => {
  it('another is told who, and exits 75; a lock of another name is free', async () => {
    const { wrapper } = await inside('first');
    const { code, stderr } = await exclusive([], 'echo never');
    expect([code, stderr]).toEqual([
      75,
      expect.stringMatching(/^reaptop: not run: sh \(\d+\) has held the lock for \d+ s/),
    ]);
    expect(stderr).toContain(`(${wrapper.pid})`);
    expect((await exclusive(['--key', 'docs'], 'exit 3')).code).toBe(3);
  });

  it('killed -9, its command keeps the lock until it ends', async () => {
    needsRootsDirectories();
    const { wrapper, command } = await inside('first');
    expect(existsSync(sandbox.path('work/.diagnostic-lock'))).toBe(true);
    process.kill(wrapper.pid, 'SIGKILL');
    await until('the wrapper to end', () => !isRunning(wrapper.pid, wrapper.start));
    expect((await exclusive([], 'exit 5')).code).toBe(75);
    endAll(p => p.comm === 'sleep' || p.pid === command);
    expect((await exclusive(['--wait', '20'], 'exit 5')).code).toBe(5);
    expect(existsSync(sandbox.path('work/.diagnostic-lock'))).toBe(false);
  });

  it.each<[string, string]>([
    ['in the background', 'sleep 600 > /dev/null 2>&1 &'],
    ['with an environment of its own', `env -i "${MARK}=$${MARK}" sleep 600 > /dev/null 2>&1 &`],
    ['as a daemon that has closed everything', 'setsid bash -c "exec 0<&- 1>&- 2>&- 99<&-; sleep 600" &'],
  ])('what it leaves running %s keeps the lock after it', async (_, command) => {
    expect((await exclusive([], `${command} exit 4`)).code).toBe(4);
    expect((await exclusive([], 'exit 0')).code).toBe(75);
    endAll(p => p.comm === 'sleep');
    expect((await exclusive(['--wait', '20'], 'exit 0')).code).toBe(0);
  });

  it('another pid namespace with the same home is kept out, after a kill -9 too', async () => {
    if (spawnSync('unshare', ['-fp', '--mount-proc', 'true']).status !== 0)
      lacking('this user may not make a pid namespace');
    const { wrapper, command } = await inside('first');
    const elsewhere = () =>
      spawnSync(
        'unshare',
        ['-fp', '--mount-proc', process.execPath, CLI, 'exclusive', '--', 'sh', '-c', 'exit 3'],
        { cwd: sandbox.path('work'), env: sandbox.env },
      ).status;
    expect(elsewhere()).toBe(75);
    process.kill(wrapper.pid, 'SIGKILL');
    const [lock] = readdirSync(locks()).map(name => join(locks(), name));
    const old = new Date(Date.now() - 3_600_000);
    utimesSync(lock!, old, old);
    utimesSync(sandbox.path('work/.diagnostic-lock'), old, old);
    expect(elsewhere()).toBe(75);
    endAll(p => p.comm === 'sleep' || p.pid === command);
    expect(elsewhere()).toBe(3);
  });

  /** In a terminal of its own; gives what happened to the command once that terminal has closed. */
  const whenTheTerminalCloses = async (command: string): Promise<string> => {
    const script =
      'trap "echo hung up > fate; exit" HUP; : > inside; while [ ! -e go ]; do sleep 0.05; done; echo done > fate';
    const pty = new Pty(sandbox, {
      // The shell stays, as the one that a person leaves; all of it is in the terminal's foreground.
      command: ['sh', '-c', `${command} '${CLI}' exclusive -- sh -c '${script}' & wait`],
      env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
    });
    await until('the command to be inside', () => existsSync(sandbox.path('work/inside')));
    pty.hangUp();
    await until('the shell to end', () => !isRunning(pty.pid));
    sandbox.write('work/go', '');
    return until('the command to end', () => readFileSync(sandbox.path('work/fate'), 'utf8').trim());
  };

  it('and its command end with their terminal', async () => {
    expect(await whenTheTerminalCloses('')).toBe('hung up');
  });

  it('with nohup, neither it nor its command ends when the terminal closes', async () => {
    expect(await whenTheTerminalCloses('nohup')).toBe('done');
    await until('the lock to be given back', () => readdirSync(locks()).length === 0);
  });

  it('gets the whole environment, also names that are not words', async () => {
    const odd = { 'BASH_FUNC_module%%': '() { echo loaded; }', 'a.b': '1 = 2', NODE_EXTRA_CA_CERTS: '/none' };
    const given = { ...sandbox.env, ...odd, PWD: sandbox.path('work') };
    const run = spawnSync(CLI, ['exclusive', '--', 'env', '-0'], {
      cwd: sandbox.path('work'),
      env: given,
      encoding: 'utf8',
    });
    const got = new Map(run.stdout.split('\0').map(entry => entry.split(/=([\s\S]*)/) as [string, string]));
    expect(Object.entries(given).filter(([name, value]) => got.get(name) !== value)).toEqual([]);
    expect([...got.keys()].filter(name => name !== '' && !(name in given))).toEqual(['REAPTOP_LOCKS']);
  });

  it.each([
    ['/nowhere/program', 127],
    ['no-such-program', 127],
    ['/etc/passwd', 126],
    ['/etc', 126],
  ])('%s exits %i, as in a shell', async (program, code) => {
    expect((await reaptop(sandbox, ['exclusive', '--', program])).code).toBe(code);
  });

  it('a signal goes on to the command, and the lock is given back', async () => {
    const { wrapper, command } = await inside('first');
    process.kill(wrapper.pid, 'SIGTERM');
    await until('both to end', () => !isRunning(wrapper.pid, wrapper.start) && !isRunning(command));
    expect(readdirSync(locks())).toEqual([]);
    expect(existsSync(sandbox.path('work/.diagnostic-lock'))).toBe(false);
  });
});

describe('beside the seeds’ scripts', () => {
  it('a fresh lock of theirs is honoured, a stale one is not', async () => {
    const lock = join(makeTask(sandbox), '.diagnostic-lock');
    writeFileSync(lock, '');
    expect((await exclusive([], 'exit 0')).code).toBe(75);
    expect(existsSync(lock)).toBe(true);
    const old = new Date(Date.now() - 31_000);
    utimesSync(lock, old, old);
    expect((await exclusive([], 'exit 0')).code).toBe(0);
  });

  it('theirs finds an empty, fresh lock in its task while we are inside', async () => {
    needsRootsDirectories();
    const task = makeTask(sandbox);
    makeMarker(task);
    const seen = await exclusive([], 'stat -c %s specs/688_zombies/.diagnostic-lock');
    expect([seen.code, seen.stdout]).toEqual([0, '0\n']);
    expect(existsSync(join(task, '.diagnostic-lock'))).toBe(false);
  });
});

describe('prebuild', () => {
  const lake = (body: string): string => sandbox.write('bin/lake', `#!/bin/sh\n${body}\n`, 0o755);
  const prebuild = (...flags: string[]) =>
    reaptop(sandbox, ['prebuild', ...flags], { env: { PATH: `${sandbox.path('bin')}:${process.env.PATH}` } });

  it('runs lake build with its output in a log, and lake clean before with --force', async () => {
    lake('echo "$1" >> words; echo building');
    const { code, stdout } = await prebuild('--force', '--verbose');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/building\n(?:.*\n)*Pre-build completed in \d+s/),
    ]);
    expect(readFileSync(sandbox.path('work/words'), 'utf8')).toBe('clean\nbuild\n');
    expect(readFileSync(join(sandbox.home, '.local/state/reaptop/prebuild.log'), 'utf8')).toContain(
      'building',
    );
  });

  it('exits 0 when the build fails, and as the build does with --strict', async () => {
    lake('exit 9');
    expect((await prebuild()).code).toBe(0);
    expect((await prebuild('--strict')).code).toBe(9);
  });

  it('ends the whole tree when the time is over, whoever ignores it or leaves its session', async () => {
    lake(`trap "" TERM; sh -c 'trap "" TERM; sleep 601' & setsid sleep 602 & sleep 603`);
    const { code, stdout } = await prebuild('--timeout', '1', '--strict');
    expect([code, stdout]).toEqual([124, expect.stringContaining('timed out')]);
    const left = sandbox.running().filter(({ comm }) => comm === 'sleep' || comm === 'lake');
    expect(left).toEqual([]);
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('%s ends lake’s whole tree', async signal => {
    lake(
      `trap "" TERM; setsid sleep 602 & (sh -c 'setsid sh -c "sleep 604" > /dev/null 2>&1 &') & : > ready; sleep 603`,
    );
    const { pid, start, child } = sandbox.start([process.execPath, CLI, 'prebuild'], {
      env: { PATH: `${sandbox.path('bin')}:${process.env.PATH}` },
    });
    const sleeping = () => sandbox.running().filter(({ comm }) => comm === 'sleep');
    await until('all of it to run', () => sleeping().length === 3);
    const ended = new Promise(resolve => child.on('exit', resolve));
    expect(isRunning(pid, start)).toBe(true);
    process.kill(pid, signal);
    expect(await ended).toBe(128 + constants.signals[signal]);
    expect(sandbox.running().filter(({ comm }) => comm === 'sleep' || comm === 'lake')).toEqual([]);
    expect(readdirSync(locks())).toEqual([]);
  });

  it('what lake leaves running keeps the lock', async () => {
    lake('setsid sleep 605 > /dev/null 2>&1 &');
    expect((await prebuild('--strict')).code).toBe(0);
    expect((await exclusive([], 'exit 0')).code).toBe(75);
    endAll(p => p.comm === 'sleep');
    expect((await exclusive(['--wait', '20'], 'exit 0')).code).toBe(0);
  });

  it('--force and --timeout: clean and build together end in that time', async () => {
    lake('echo "$1" >> words; exec sleep 1.2');
    const began = performance.now();
    const { code } = await prebuild('--force', '--timeout', '2', '--strict');
    expect([code, readFileSync(sandbox.path('work/words'), 'utf8')]).toEqual([124, 'clean\nbuild\n']);
    // 1.2 s of 2 are used by then: without that the build would have ended by itself.
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('a lake that may not be run is said, and is 126 with --strict', async () => {
    lake('exit 0');
    chmodSync(sandbox.path('bin/lake'), 0o644);
    const { code, stdout } = await reaptop(sandbox, ['prebuild', '--strict'], {
      env: { PATH: sandbox.path('bin') },
    });
    expect([code, stdout]).toEqual([126, expect.stringContaining('not an executable file')]);
  });

  it('starts no second build of a project', async () => {
    lake('echo started >> started');
    await inside('first');
    expect((await prebuild('--strict')).code).toBe(75);
    expect(existsSync(sandbox.path('work/started'))).toBe(false);
  });

  it('says what is missing', async () => {
    const { code, stdout } = await reaptop(sandbox, ['prebuild'], { env: { PATH: '/nowhere' } });
    expect([code, stdout]).toEqual([0, expect.stringContaining('there is no lake in PATH')]);
  });
});
