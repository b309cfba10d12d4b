import { existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { programAt, runChild } from '../../../src/act/children/run-child.ts';
import type { Identity } from '../../../src/model/identity.ts';
import { rawProcess } from '../../support/proc.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

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

/** Runs it where only `sh`, `sleep` and what a test puts there are to be had. */
const run = (words: readonly string[], onStart: (child: Identity | null) => void = () => {}) =>
  runChild(words, {
    cwd: sandbox.path('work'),
    env: { ...sandbox.env, PATH: `/nowhere:${sandbox.path('bin')}` },
    onStart,
  });
const sh = (script: string, onStart?: (child: Identity | null) => void) => run(['sh', '-c', script], onStart);

describe('where a program is found', () => {
  const find = (name: string, PATH?: string) =>
    programAt(name, PATH === undefined ? {} : { PATH: PATH.replaceAll('BIN', sandbox.path('bin')) });

  test('by its path, or in the first directory of PATH that has it', () => {
    sandbox.write('other/sh', '', 0o755);
    expect(find('/bin/sh')).toBe('/bin/sh');
    expect(find('sh', 'BIN')).toBe(sandbox.path('bin/sh'));
    expect(find('sh', `/nowhere:BIN:${sandbox.path('other')}`)).toBe(sandbox.path('bin/sh'));
  });

  test('nowhere: no such name, none that may be run, no PATH', () => {
    sandbox.write('bin/text', '', 0o644);
    sandbox.write('bin/directory/x', '');
    for (const name of ['none', 'text', 'directory', '', sandbox.path('none')])
      expect(find(name, 'BIN')).toBeNull();
    expect(find('sh')).toBeNull();
  });
});

describe('a command in our place', () => {
  test('gives its exit code as ours, and that of a signal as shells do', async () => {
    expect(await sh('exit 7')).toEqual({ code: 7, why: null });
    expect(await sh('exit 0')).toEqual({ code: 0, why: null });
    expect(await sh('kill -KILL $$')).toEqual({ code: 137, why: null });
  });

  test('that is nowhere, or cannot be started, is said with its name or the reason', async () => {
    expect(await run(['none'])).toEqual({ code: 127, why: 'there is no program none' });
    for (const words of [[], ['']])
      expect(await run(words)).toEqual({ code: 127, why: 'there is no program without a name' });
    expect(await run(['/bin'])).toEqual({ code: 127, why: 'there is no program /bin' });
    expect(await runChild(['/bin/sh'], { cwd: '/nowhere', env: {}, onStart: () => {} })).toEqual({
      code: 126,
      why: expect.stringContaining('ENOENT'),
    });
  });

  test('runs where it is told to, and is known from its start', async () => {
    let started: Identity | null = null;
    const ended = sh('pwd > where; while [ ! -e go ]; do sleep 0.02; done', child => {
      started = child;
    });
    const child = await until('the command to be known', () => started ?? undefined);
    expect(rawProcess(child.pid)).toMatchObject(child);
    sandbox.write('work/go', '');
    expect(await ended).toEqual({ code: 0, why: null });
    expect(existsSync(sandbox.path('work/where'))).toBe(true);
  });

  test('is tied to our life where that can be had', async () => {
    const tie = '#!/bin/sh\necho "$@" > tied\nshift 3\nexec "$@"\n';
    sandbox.write('bin/setpriv', tie, 0o755);
    expect(await sh('exit 7')).toEqual({ code: 7, why: null });
    expect(readFileSync(sandbox.path('work/tied'), 'utf8')).toBe('--pdeathsig TERM -- sh -c exit 7\n');
    rmSync(sandbox.path('work/tied'));
    vi.spyOn(process, 'platform', 'get').mockReturnValue('darwin');
    expect(await sh('exit 7')).toEqual({ code: 7, why: null });
    expect(existsSync(sandbox.path('work/tied'))).toBe(false);
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
    const ended = sh(`${TRAPS}; : > ready; while [ ! -e go ]; do sleep 0.02; done`);
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
    await runChild(['/bin/sh'], { cwd: '/nowhere', env: {}, onStart: () => {} });
    expect(listening()).toEqual(before);
  });
});
