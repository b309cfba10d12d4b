import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { findProgram, runChild } from '../../src/act/run-child.ts';
import { rawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

const AT_A_TERMINAL = process.stdin.isTTY;
const terminal = (value: boolean | undefined): unknown =>
  Object.defineProperty(process.stdin, 'isTTY', { value, configurable: true, writable: true });

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = new Sandbox();
  for (const name of ['sh', 'sleep']) symlinkSync(`/bin/${name}`, sandbox.path('bin', name));
});
afterEach(async () => {
  vi.restoreAllMocks();
  terminal(AT_A_TERMINAL);
  await sandbox.close();
});

/** Runs it where only `sh`, `sleep` and what a test puts there are found. */
const run = (words: readonly string[], lock: number | null = null) =>
  runChild(words, {
    cwd: sandbox.path('work'),
    env: { ...sandbox.env, PATH: `/nowhere:${sandbox.path('bin')}` },
    lock,
    ignoresHangup: false,
  });
const sh = (script: string, lock?: number) => run(['sh', '-c', script], lock);

describe('where a program is found', () => {
  const find = (name: string, PATH?: string) =>
    findProgram(name, PATH === undefined ? {} : { PATH: PATH.replaceAll('BIN', sandbox.path('bin')) });
  const at = (path: string) => ({ status: 'found', path });

  test('by its path, or in the first directory of PATH that has it', () => {
    sandbox.write('other/sh', '', 0o755);
    expect(find('/bin/sh')).toEqual(at('/bin/sh'));
    expect(find('sh', 'BIN')).toEqual(at(sandbox.path('bin/sh')));
    expect(find('sh', `/nowhere:BIN:${sandbox.path('other')}`)).toEqual(at(sandbox.path('bin/sh')));
  });

  test.each<[string, 126 | 127]>([
    ['none', 127],
    ['', 127],
    ['NOWHERE/none', 127],
    ['NOWHERE/text/none', 127],
    // Not a program, but a program of that name may be elsewhere in PATH.
    ['directory', 127],
    ['text', 126],
    ['NOWHERE/text', 126],
    ['NOWHERE/directory', 126],
  ])('nowhere: %s is %i, as in a shell', (name, code) => {
    sandbox.write('bin/text', '', 0o644);
    sandbox.write('bin/directory/x', '');
    const word = name.replace('NOWHERE', sandbox.path('bin'));
    expect(find(word, 'BIN')).toMatchObject({ status: 'missing', code });
    // The same question to a shell.
    const shell = spawnSync('bash', ['-c', `'${word}'`], { env: { PATH: sandbox.path('bin') } });
    if (word !== '' && shell.error === undefined) expect(shell.status).toBe(code);
  });

  test('nowhere without PATH', () => {
    expect(find('sh')).toMatchObject({ code: 127 });
  });
});

describe('a command in our place', () => {
  test('gives its exit code as ours, and that of a signal as shells do', async () => {
    expect(await sh('exit 7')).toEqual({ code: 7, why: null });
    expect(await sh('exit 0')).toEqual({ code: 0, why: null });
    expect(await sh('kill -KILL $$')).toEqual({ code: 137, why: null });
  });

  test('is reported by name or reason when it is missing or cannot start', async () => {
    expect(await run(['none'])).toEqual({ code: 127, why: 'command not found: none' });
    for (const words of [[], ['']])
      expect(await run(words)).toEqual({ code: 127, why: 'the command has no name' });
    expect(await run(['/bin'])).toEqual({ code: 126, why: 'not an executable file: /bin' });
    expect(
      await runChild(['/bin/sh'], { cwd: '/nowhere', env: {}, lock: null, ignoresHangup: false }),
    ).toEqual({
      code: 126,
      why: expect.stringContaining('ENOENT'),
    });
  });

  test('runs where it is told to, without a setpriv of any kind', async () => {
    sandbox.write('bin/setpriv', '#!/bin/sh\nexit 9\n', 0o755);
    expect(await sh('pwd > where; exit 7')).toEqual({ code: 7, why: null });
    expect(existsSync(sandbox.path('work/where'))).toBe(true);
  });

  test('hands the lock’s file on to everything below it, and nothing else', async () => {
    const lock = openSync(sandbox.write('lock', ''), 'r');
    try {
      await sh('sh -c "/bin/ls -l /proc/self/fd > fds"', lock);
    } finally {
      closeSync(lock);
    }
    const open = [...readFileSync(sandbox.path('work/fds'), 'utf8').matchAll(/ (\d+) -> (.*)/g)];
    const above = open.filter(
      ([, fd, path]) => Number(fd) > 2 && Number(fd) < 100 && !path!.startsWith('/proc'),
    );
    expect(above.map(([, fd, path]) => [fd, path])).toEqual([['99', sandbox.path('lock')]]);
  });
});

describe('a signal that reaches us', () => {
  const PASSED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;
  const TRAPS = 'for s in INT TERM HUP QUIT USR1 USR2; do trap "echo SIG$s >> got" $s; done';
  /** All were sent before it was told to end, so all have arrived when it has; a shell takes them by number. */
  const got = (): string[] =>
    existsSync(sandbox.path('work/got'))
      ? readFileSync(sandbox.path('work/got'), 'utf8').trim().split('\n').sort()
      : [];
  const listening = (): number[] => PASSED.map(signal => process.listenerCount(signal));

  /** As if these had reached us while a command runs that writes down what it is sent. */
  const noting = async (signals: readonly NodeJS.Signals[]): Promise<string[]> => {
    const others = new Set(signals.flatMap(signal => process.listeners(signal)));
    const ended = sh(`${TRAPS}; : > ready; while [ ! -e go ]; do sleep 0.02; done; exit 0`);
    await until('the command to listen', () => existsSync(sandbox.path('work/ready')));
    // Not by `emit`: whoever else in this process waits for a signal is not meant.
    for (const signal of signals)
      for (const listener of process.listeners(signal)) if (!others.has(listener)) listener(signal);
    sandbox.write('work/go', '');
    expect(await ended).toEqual({ code: 0, why: null });
    return got();
  };

  test('goes on to the command, and to nobody once it has ended', async () => {
    terminal(false);
    const before = listening();
    expect(await noting(PASSED)).toEqual([...PASSED].sort());
    expect(listening()).toEqual(before);
  });

  test('at a terminal: not what the terminal sends to the command itself', async () => {
    terminal(true);
    expect(await noting(['SIGINT', 'SIGQUIT', 'SIGTERM'])).toEqual(['SIGTERM']);
  });

  test('is ours again when the command could not be started', async () => {
    const before = listening();
    await runChild(['/bin/sh'], { cwd: '/nowhere', env: {}, lock: null, ignoresHangup: false });
    expect(listening()).toEqual(before);
  });

  test('reaches what the command waits for, so that it need not wait', async () => {
    terminal(false);
    const others = new Set(process.listeners('SIGTERM'));
    // A shell takes its trap when the command in the foreground has ended.
    const ended = sh(`trap 'exit 3' TERM; : > ready; sleep 600`);
    await until('it to wait', () => sandbox.running().some(({ comm }) => comm === 'sleep'));
    receive('SIGTERM', others);
    expect((await ended).code).toBe(3);
  });

  /** As if it had reached us. */
  const receive = (signal: NodeJS.Signals, others: ReadonlySet<unknown>): void => {
    for (const listener of process.listeners(signal)) if (!others.has(listener)) listener(signal);
  };

  test.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)(
    '%s ends everything below the command, whoever ignores it or leaves its session',
    async signal => {
      terminal(signal === 'SIGINT');
      const others = new Set(process.listeners(signal));
      const script = `sh -c 'trap "" TERM HUP INT; echo $$ > a; while :; do sleep 0.05; done' & /usr/bin/setsid sh -c 'echo $$ > b; sleep 600' & : > ready; wait`;
      const ended = sh(`trap 'exit 3' TERM HUP; ${script}`);
      const pids = await until('all of them to run', () =>
        ['a', 'b'].map(name => Number(readFileSync(sandbox.path('work', name), 'utf8').trim() || undefined)),
      );
      receive(signal, others);
      // A terminal sends its own to the command.
      if (signal === 'SIGINT')
        for (const { pid, comm, ppid } of sandbox.running())
          if (comm === 'sh' && ppid === process.pid) process.kill(pid, 'SIGTERM');
      expect((await ended).code).toBe(3);
      for (const pid of pids) expect(rawProcess(pid)?.state ?? 'gone').toMatch(/^(?:gone|Z)$/);
    },
  );
});
