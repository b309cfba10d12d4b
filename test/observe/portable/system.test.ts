import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keyOf } from '../../../src/model/identity.ts';
import type { ProcessFacts } from '../../../src/model/process.ts';
import { portableSystem } from '../../../src/observe/portable/system.ts';
import { rawProcess } from '../../support/proc.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

let sandbox: Sandbox;
const system = portableSystem();
const path = process.env.PATH;
beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(async () => {
  process.env.PATH = path;
  await sandbox.close();
});

const see = async (pid: number): Promise<ProcessFacts | undefined> =>
  (await system.sample()).processes.find(p => p.pid === pid);

const pageOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;

describe('what it sees is what /proc says', () => {
  test('pids, parents, groups, sessions, words and memory of started processes', async () => {
    const alone = sandbox.start([sandbox.sleeper('lonely-mcp'), '1000'], { detached: true });
    const parent = sandbox.start(['/bin/sh', '-c', `${sandbox.sleeper('child-mcp')} 1000 & wait`]);
    const child = await sandbox.find('the child', p => p.comm === 'child-mcp');
    await until('the exec', () => rawProcess(alone.pid)?.comm === 'lonely-mcp');
    await until('all of them to wait', () =>
      [alone, parent, child].every(({ pid }) => rawProcess(pid)?.state === 'S'),
    );
    const { processes, self, complete, host, clock } = await system.sample();
    expect(complete).toBe(true);
    expect(host).toMatchObject({ backend: 'portable', platform: process.platform });
    expect(self).toMatchObject({ pid: process.pid, uid: process.getuid!() });
    for (const { pid } of [alone, parent, child]) {
      const seen = processes.find(p => p.pid === pid)!;
      const { ppid, pgid, sid, state } = rawProcess(pid)!;
      expect(seen).toMatchObject({
        ppid,
        pgid,
        sid,
        state,
        uid: process.getuid!(),
        tty: null,
        kernelThread: false,
      });
      expect(Math.abs(seen.rss! - pageOf(pid))).toBeLessThan(4 * 1024 ** 2);
      expect(clock - seen.born!).toBeGreaterThanOrEqual(-1);
      expect(clock - seen.born!).toBeLessThan(120);
    }
    expect(processes.find(p => p.pid === alone.pid)!.argv).toEqual([
      sandbox.path('bin', 'lonely-mcp'),
      '1000',
    ]);
    // The parent itself, but none of the ps processes that made the look.
    expect(processes.filter(p => p.ppid === process.pid && p.comm === 'ps')).toEqual([]);
  });

  test('zombies have no argv, stopped processes are stopped', async () => {
    const parent = sandbox.start([
      '/bin/sh',
      '-c',
      `${sandbox.sleeper('short-lived')} 0 & exec ${sandbox.sleeper('never-waits')} 1000`,
    ]);
    const stopped = sandbox.start([sandbox.sleeper('paused'), '1000']);
    process.kill(stopped.pid, 'SIGSTOP');
    await until('the stop', () => rawProcess(stopped.pid)?.state === 'T');
    const zombie = await until('a zombie', async () =>
      (await system.sample()).processes.find(p => p.ppid === parent.pid && p.state === 'Z'),
    );
    expect(zombie).toMatchObject({ comm: 'short-lived', argv: null, exe: null });
    expect(await see(stopped.pid)).toMatchObject({ state: 'T' });
  });

  test('secrets in a command line are gone at once', async () => {
    const { pid } = sandbox.start(['/bin/sh', '-c', 'sleep 1000; : "$1"', 'x', '--token=hunter2\u{1b}[2J']);
    const seen = await see(pid);
    expect(seen!.argv!.join(' ')).toContain('--token=***');
    expect(JSON.stringify(seen)).not.toContain('hunter2');
  });

  test('a process that works shows it from the second look on', async () => {
    const { pid } = sandbox.start(['/bin/sh', '-c', 'while :; do :; done']);
    expect((await see(pid))!.cpu).toBeNull();
    expect(await until('CPU use', async () => (await see(pid))!.cpu)).toBeGreaterThan(0);
  });

  test('every process of the machine that stays is seen once', async () => {
    const { pid } = sandbox.start([sandbox.sleeper('stays'), '1000']);
    const { processes } = await system.sample();
    const pids = processes.map(p => p.pid);
    expect(new Set(pids).size).toBe(pids.length);
    expect(pids).toEqual(expect.arrayContaining([pid, process.pid, process.ppid, 1]));
  });
});

describe('details and environment', () => {
  test('say what is unknown as unknown, and nothing of strangers', async () => {
    const me = (await see(process.pid))!;
    const ask = { ...me, descriptors: true, sockets: true };
    const found = await system.details([ask, { ...ask, start: '1' }]);
    expect([...found]).toEqual([
      [keyOf(me), expect.objectContaining({ cwd: null, stdin: 'unknown', listening: null })],
    ]);
    expect((await system.environ([me])).size).toBe(0);
  });
});

describe('presence', () => {
  test('the same process keeps its identity between look and presence', async () => {
    const { pid } = sandbox.start([sandbox.sleeper('steady'), '1000']);
    const seen = (await see(pid))!;
    expect(await system.presence(pid)).toMatchObject({
      status: 'present',
      identity: { pid, start: seen.start },
      ppid: process.pid,
    });
  });

  test('without ps a look fails with a sentence', async () => {
    const { pid } = sandbox.start([sandbox.sleeper('safe'), '1000']);
    process.env.PATH = sandbox.path('work');
    await expect(system.sample()).rejects.toThrow(/^ps was not found/);
    expect(await system.presence(pid)).toMatchObject({
      status: 'unreadable',
      why: expect.stringMatching(/^ps was not found/),
    });
  });

  test('a ps that answers in another way is a failure, not an empty machine', async () => {
    sandbox.write('bin/ps', '#!/bin/sh\necho "  PID TTY\n 1 ?"\n', 0o755);
    process.env.PATH = `${sandbox.path('bin')}:${path}`;
    await expect(system.sample()).rejects.toThrow(/not in a form that can be read/);
    sandbox.write('bin/ps', '#!/bin/sh\necho "ps: illegal option" >&2\nexit 1\n', 0o755);
    await expect(system.sample()).rejects.toThrow(/^ps failed: ps: illegal option\.$/);
  });
});
