import childProcess, { execFileSync, spawn, spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { treeKill } from '../../../src/act/portable/tree-kill.ts';
import { sweepTree } from '../../../src/act/portable/tree-sweep.ts';
import type { Identity } from '../../../src/model/identity.ts';
import { portableSystem } from '../../../src/observe/portable/system.ts';
import { allPids, isRunning } from '../../support/proc.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

let sandbox: Sandbox;
/** Who was there before the test: no mistake of a sweep may reach them, the runner of the tests least of all. */
let bystanders: ReadonlySet<number>;
const killForReal = process.kill.bind(process);
const killNewcomers = (pid: number, signal?: string | number): true => {
  if (!(pid > 2) || pid === process.pid || bystanders.has(pid))
    throw new Error(`a test would have signalled ${pid}, which it did not start`);
  return killForReal(pid, signal);
};
const system = { ...portableSystem(), deliver: killNewcomers };
const path = process.env.PATH;
beforeEach(() => {
  sandbox = new Sandbox();
  bystanders = new Set(allPids());
  vi.spyOn(process, 'kill').mockImplementation(killNewcomers);
});
afterEach(async () => {
  vi.restoreAllMocks();
  process.env.PATH = path;
  await sandbox.close();
});

const identity = async (pid: number): Promise<Identity> => {
  const now = await system.presence(pid);
  if (now.status !== 'present') throw new Error(`${pid} is ${now.status}`);
  return now.identity;
};
/** Writes its name when it is asked to end, and has one child of the same kind per further name. */
const TREE = `
const { appendFileSync } = require('node:fs');
const [log, name, ...rest] = process.argv.slice(2);
process.on('SIGTERM', () => {
  if (name.startsWith('stubborn')) return appendFileSync(log, name + '\\n');
  appendFileSync(log, name + '\\n');
  process.exit(0);
});
if (rest.length > 0) require('node:child_process').spawn(process.execPath, [__filename, log, ...rest], { stdio: 'ignore' });
appendFileSync(log + '.up', name + '\\n');
setInterval(() => {}, 1e6);
`;
const startTree = async (
  ...names: [string, ...string[]]
): Promise<{ root: Identity; said: () => string[] }> => {
  const script = sandbox.write('tree.cjs', TREE);
  const log = sandbox.write('log', '');
  sandbox.write('log.up', '');
  const { pid } = sandbox.start([process.execPath, script, log, ...names]);
  const lines = (file: string): string[] => readFileSync(file, 'utf8').split('\n').filter(Boolean);
  await until('the whole tree', () => lines(`${log}.up`).length === names.length);
  return { root: await identity(pid), said: () => lines(log) };
};

const CAN_LIMIT = spawnSync('prlimit', ['--version']).status === 0;
/** Does something while not one more file can be opened in this process. */
const withoutDescriptors = async <T>(work: () => Promise<T>): Promise<T> => {
  const limit = (of: string): void =>
    void execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${of}:`]);
  const before = execFileSync('prlimit', [
    '--pid',
    String(process.pid),
    '--nofile',
    '-o',
    'SOFT',
    '--noheadings',
  ]);
  const opened: number[] = [];
  // As many again must be free afterwards: prlimit is started to lift the limit.
  limit(String(readdirSync('/proc/self/fd').length + 64));
  try {
    expect(() => {
      for (;;) opened.push(openSync('/dev/null', 'r'));
    }).toThrow('EMFILE');
    return await work();
  } finally {
    for (const fd of opened) closeSync(fd);
    limit(String(before).trim());
  }
};

test('ends a tree, and says so only of what really ended', async () => {
  const { root } = await startTree('root', 'middle', 'leaf');
  const swept = await sweepTree(system, root, 'SIGTERM', { settleMs: 10_000 });
  expect(swept.map(s => s.outcome)).toEqual(['ended', 'ended', 'ended']);
  expect(sandbox.running()).toEqual([]);
});

test('touches nobody but the members it was given, not even their children', async () => {
  const { root } = await startTree('root', 'kept');
  const kept = sandbox.running().find(p => p.ppid === root.pid);
  const swept = await sweepTree(system, root, 'SIGKILL', { onlyMembers: true, settleMs: 10_000 });
  expect(swept).toMatchObject([{ pid: root.pid, outcome: 'ended' }]);
  expect(sandbox.running().map(p => p.pid)).toEqual([kept?.pid]);
});

describe('the holes of tree-kill', () => {
  test('a dead root is gone, not a success', async () => {
    const { pid } = sandbox.start([sandbox.sleeper('brief'), '1000']);
    const target = await identity(pid);
    process.kill(pid, 'SIGKILL');
    await until('its end', () => !isRunning(pid));
    expect(await treeKill(pid, 'SIGTERM')).toBe('done');
    expect(await sweepTree(system, target, 'SIGTERM')).toMatchObject([{ pid, outcome: 'gone' }]);
  });

  test('a pid that now names another process is left alone', async () => {
    const { pid, start } = sandbox.start([sandbox.sleeper('newcomer'), '1000']);
    expect(await sweepTree(system, { pid, start: '1' }, 'SIGKILL')).toMatchObject([{ outcome: 'changed' }]);
    expect(isRunning(pid, start)).toBe(true);
  });

  test('children that have another parent by now are ended when they are named', async () => {
    sandbox.start([
      '/bin/sh',
      '-c',
      `${sandbox.sleeper('orphan')} 1000 & exec ${sandbox.sleeper('old-root')} 1000`,
    ]);
    const old = await sandbox.find('the root', p => p.comm === 'old-root');
    const orphan = await sandbox.find('the child', p => p.comm === 'orphan');
    const [root, member] = [await identity(old.pid), await identity(orphan.pid)];
    process.kill(old.pid, 'SIGKILL');
    await until('the root to end', () => !isRunning(old.pid));
    const swept = await sweepTree(system, root, 'SIGTERM', { members: [member], settleMs: 10_000 });
    expect(swept).toMatchObject([
      { pid: old.pid, outcome: 'gone' },
      { pid: orphan.pid, outcome: 'ended' },
    ]);
    expect(isRunning(orphan.pid)).toBe(false);
  });

  test('leaves go first, whatever their numbers', async () => {
    const { root, said } = await startTree('root', 'middle', 'leaf');
    await sweepTree(system, root, 'SIGTERM', { settleMs: 10_000 });
    expect(said()).toEqual(['leaf', 'middle', 'root']);
  });

  test('a child that ignores the signal gets it once, survives, and does not save its parents', async () => {
    const { root, said } = await startTree('root', 'stubborn');
    const swept = await sweepTree(system, root, 'SIGTERM', { settleMs: 4000 });
    expect(swept.find(s => s.pid === root.pid)).toMatchObject({ outcome: 'ended' });
    expect(swept.find(s => s.pid !== root.pid)).toMatchObject({ outcome: 'survived' });
    expect(said().sort()).toEqual(['root', 'stubborn']);
  });

  // Only root can start a process that it then, as somebody else, may not signal; and only in a process of its own.
  test.runIf(process.getuid?.() === 0 && isMainThread)(
    'one that may not be signalled does not stop the others',
    async () => {
      const start = (uid: number): number => {
        const child = spawn('/bin/sleep', ['1000'], {
          uid,
          gid: uid,
          env: sandbox.env,
          stdio: 'ignore',
          cwd: '/',
        });
        return child.pid!;
      };
      const pids = [start(1), start(0), start(1), start(0)];
      const targets: Identity[] = [];
      for (const pid of pids) targets.push(await identity(pid));
      process.seteuid!(65_534);
      try {
        const swept = await sweepTree(system, targets[0]!, 'SIGTERM', {
          members: targets.slice(1),
          settleMs: 10_000,
        });
        expect(pids.map(pid => swept.find(s => s.pid === pid)!.outcome)).toEqual([
          'denied',
          'ended',
          'denied',
          'ended',
        ]);
      } finally {
        process.seteuid!(0);
      }
      expect(pids.map(pid => isRunning(pid))).toEqual([true, false, true, false]);
    },
  );

  test('a missing ps refuses the sweep, and does not take the program down', async () => {
    const { pid } = sandbox.start([sandbox.sleeper('spared'), '1000']);
    const target = await identity(pid);
    process.env.PATH = sandbox.path('work');
    expect(await sweepTree(system, target, 'SIGKILL')).toMatchObject([
      { outcome: 'refused', why: expect.stringMatching(/^ps was not found/) },
    ]);
    expect(isRunning(pid)).toBe(true);
    // Even when ps disappears after the check.
    expect(await treeKill(pid, 'SIGKILL')).toBe('done');
    await until('its end', () => !isRunning(pid));
  });

  test.skipIf(!CAN_LIMIT)(
    'without descriptors for ps the process itself is still signalled, once',
    async () => {
      const { pid } = sandbox.start([sandbox.sleeper('alone'), '1000']);
      expect(await withoutDescriptors(() => treeKill(pid, 'SIGKILL'))).toBe('done');
      await until('its end', () => !isRunning(pid));
      expect(vi.mocked(process.kill).mock.calls).toEqual([[pid, 'SIGKILL']]);
    },
  );

  test('a signal that the system refuses is told', async () => {
    const { pid } = sandbox.start([sandbox.sleeper('guarded'), '1000']);
    vi.spyOn(process, 'kill').mockImplementation(() => {
      throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
    });
    expect(await treeKill(pid, 'SIGTERM')).toBe('denied');
    expect(isRunning(pid)).toBe(true);
  });

  test('its own way to start ps is nobody else’s', async () => {
    const { pid } = sandbox.start([sandbox.sleeper('brief'), '1000']);
    await treeKill(pid, 'SIGKILL');
    expect(childProcess.spawn.name).toBe('spawn');
  });

  test.each([0, 1, 2, -1, 2.5, Number.NaN, Number.POSITIVE_INFINITY])('pid %d is refused', async pid => {
    expect(await sweepTree(system, { pid, start: '1' }, 'SIGKILL')).toMatchObject([{ outcome: 'refused' }]);
  });

  test('a tree that holds this very process is refused', async () => {
    const parent = await identity(process.ppid);
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
    expect(await sweepTree(system, parent, 'SIGKILL')).toMatchObject([
      { pid: process.ppid, outcome: 'refused' },
    ]);
    expect(kill).not.toHaveBeenCalled();
  });
});
