import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { procfsSystem } from '../../../src/observe/procfs/system.ts';
import { FakeProc } from './fake-proc.ts';

let proc: FakeProc;
beforeEach(() => {
  proc = new FakeProc();
});
afterEach(() => {
  vi.restoreAllMocks();
  proc.close();
});

const system = () => procfsSystem({ root: proc.root });
const asked = (pid: number, start = '1000') => ({ pid, start, descriptors: false, sockets: false });

describe('a look', () => {
  it('says who we are, and that it is complete', async () => {
    proc.put({ pid: 100 });
    proc.put({ pid: process.pid });
    proc.file('self/cgroup', '0::/user.slice/x.scope\n');
    vi.spyOn(process, 'getuid').mockReturnValue(1234);
    const { self, complete } = await system().sample();
    expect(self).toEqual({ pid: process.pid, uid: 1234, pgid: process.pid, cgroup: '/user.slice/x.scope' });
    expect(complete).toBe(true);
  });

  it('does not find our group where we are not listed', async () => {
    proc.put({ pid: 100 });
    expect((await system().sample()).self?.pgid).toBeNull();
  });
});

describe('the questions after it', () => {
  const swapOf = async (meminfo?: string): Promise<number | null | undefined> => {
    if (meminfo !== undefined) proc.file('meminfo', meminfo);
    proc.put({ pid: 100 });
    proc.file('100/status', 'Name:\tsleep\nUid:\t1000\t1000\t1000\t1000\nVmSwap:\t12 kB\n');
    const fresh = system();
    await fresh.sample();
    return (await fresh.details([asked(100)])).get('100:1000')?.swap;
  };

  it('count what is swapped out, where anything is', async () => {
    expect(await swapOf()).toBe(12 * 1024);
    expect(await swapOf('MemTotal: 1000 kB\nSwapTotal: 100 kB\nSwapFree: 100 kB\n')).toBe(0);
  });

  it('have no answer for whoever the look did not see, or who has ended', async () => {
    proc.put({ pid: 100 });
    const fresh = system();
    await fresh.sample();
    expect((await fresh.details([asked(4711)])).size).toBe(0);
    expect((await fresh.environ([{ pid: 4711, start: '1' }])).size).toBe(0);
  });

  it.each([
    ['is on its facts from the next look on', { pid: 100 }, { CLAUDECODE: '1' }],
    ['ends with an exec, though it was asked just before', { pid: 100, stack: 150_000 }, null],
    ['is not handed to whoever has its number next', { pid: 100, start: 2000 }, null],
  ])('an environment that was asked for %s', async (_, next, expected) => {
    proc.put({ pid: 100 });
    proc.file('100/environ', 'CLAUDECODE=1\0');
    const fresh = system();
    await fresh.sample();
    expect((await fresh.environ([{ pid: 100, start: '1000' }])).size).toBe(1);
    proc.put(next);
    proc.uptime(5100);
    expect((await fresh.sample()).processes.find(p => p.pid === 100)?.env).toEqual(expected);
  });

  it('are asked again after an exec, however soon', async () => {
    proc.put({ pid: 100 });
    proc.link('100/cwd', '/before');
    proc.link('100/fd/0', '/dev/null');
    const fresh = system();
    const detailsNow = async () => {
      await fresh.sample();
      return (await fresh.details([{ ...asked(100), descriptors: true }])).get('100:1000');
    };
    const before = await detailsNow();
    expect(before).toMatchObject({ cwd: '/before' });
    proc.end(100);
    proc.put({ pid: 100, stack: 150_000 });
    proc.link('100/cwd', '/after');
    proc.link('100/fd/0', 'pipe:[77]');
    proc.uptime(5001);
    const after = await detailsNow();
    expect(after).toMatchObject({ cwd: '/after' });
    expect(after?.stdin).not.toBe(before?.stdin);
  });

  /** How many of so many processes are seen to have moved, at these seconds after they did. */
  const movedBy = async (count: number, seconds: readonly number[], change: object = {}) => {
    const pids = Array.from({ length: count }, (_, n) => 100 + n);
    for (const pid of pids) {
      proc.put({ pid });
      proc.link(`${pid}/cwd`, '/before');
    }
    const fresh = system();
    const moved = async (options?: object): Promise<number> => {
      await fresh.sample();
      const details = await fresh.details(
        pids.map(pid => asked(pid)),
        options,
      );
      return [...details.values()].filter(({ cwd }) => cwd === '/after').length;
    };
    await moved();
    for (const pid of pids) {
      rmSync(`${proc.root}/${pid}/cwd`);
      proc.link(`${pid}/cwd`, '/after');
      if (Object.keys(change).length > 0) proc.put({ pid, ...change });
    }
    const seen: number[] = [];
    for (const at of seconds) {
      proc.uptime(5000 + at);
      seen.push(await moved());
    }
    return { seen, freshly: () => moved({ fresh: true }) };
  };

  it('are answered from memory for ten seconds', async () => {
    expect((await movedBy(1, [1, 9, 10])).seen).toEqual([0, 0, 1]);
  });

  it('are read at once where a signal hangs on them', async () => {
    expect(await (await movedBy(1, [1])).freshly()).toBe(1);
  });

  it('are asked again below another parent, however soon', async () => {
    expect((await movedBy(1, [1], { ppid: 7 })).seen).toEqual([1]);
  });

  it('of a thousand are asked again in turns, each within twenty seconds', async () => {
    const { seen } = await movedBy(1000, [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
    for (const [at, count] of seen.entries()) expect(count - (seen[at - 1] ?? 0)).toBeLessThan(200);
    expect(seen.at(-1)).toBe(1000);
  });

  it('tell a process’s share of memory', async () => {
    expect(await procfsSystem().proportionalMemory(process.pid)).toBeGreaterThan(0);
  });
});
