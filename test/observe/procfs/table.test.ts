import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FactReader } from '../../../src/observe/procfs/process-facts.ts';
import { parseStatLine } from '../../../src/observe/procfs/stat.ts';
import { procfsSystem } from '../../../src/observe/procfs/system.ts';
import { FakeProc, statLine } from './fake-proc.ts';

let proc: FakeProc;
beforeEach(() => {
  proc = new FakeProc();
});
afterEach(() => proc.close());

const system = () => procfsSystem({ root: proc.root });

describe('one look', () => {
  it('gives what the files say, ages from ticks and uptime', async () => {
    proc.put({
      pid: 100,
      ppid: 7,
      comm: 'node',
      start: 400_000,
      ticks: 250,
      rssPages: 3,
      tty: 34_819,
      cmdline: 'node\0x.js\0',
    });
    const { processes, clock, host, warnings } = await system().sample();
    expect(clock).toBe(5000);
    expect(processes).toHaveLength(1);
    expect(processes[0]).toMatchObject({
      pid: 100,
      start: '400000',
      ppid: 7,
      tty: 'pts/3',
      born: 4000,
      cpuSeconds: 2.5,
      cpu: null,
      rss: 3 * 4096,
      comm: 'node',
      argv: ['node', 'x.js'],
      unreadable: false,
    });
    expect(host).toMatchObject({
      backend: 'procfs',
      memTotal: 1_024_000,
      swapUsed: 70 * 1024,
      bootId: 'b-o-o-t',
    });
    expect(warnings).toEqual([]);
  });

  it('passes over a process that ended between the listing and the read', async () => {
    proc.put({ pid: 100 });
    proc.put({ pid: 101 });
    proc.vanish(100);
    expect((await system().sample()).processes.map(p => p.pid)).toEqual([101]);
  });

  it('shows what may not be read as unreadable, and torn lines as well', async () => {
    proc.put({ pid: 100 });
    rmSync(join(proc.root, '100/stat'));
    mkdirSync(join(proc.root, '100/stat')); // reading a directory fails as a denied file does: it is there, but not for us
    proc.file('101/stat', '101 (half) S 1 1');
    const { processes } = await system().sample();
    expect(processes.map(p => [p.pid, p.unreadable, p.uid])).toEqual([
      [100, true, null],
      [101, true, null],
    ]);
  });

  it('takes PID 1 for a container’s unless it is an init, of WSL too', async () => {
    for (const [comm, container] of [
      ['systemd', false],
      ['init', false],
      ['launchd', false],
      ['init(Ubuntu)', false],
      ['tini', true],
      ['bash', true],
    ] as const) {
      proc.put({ pid: 1, ppid: 0, comm });
      proc.file('1/comm', `${comm}\n`);
      expect((await system().sample()).host.container).toBe(container);
    }
  });

  it('says that /proc is not mounted, and what works without it', async () => {
    rmSync(join(proc.root, 'uptime'));
    await expect(system().sample()).rejects.toThrow(/not mounted.*--platform portable/);
    proc.uptime(1);
    await expect(system().sample()).rejects.toThrow(/lists no process.*--platform portable/);
    await expect(procfsSystem({ root: '/nowhere' }).sample()).rejects.toThrow(/--platform portable/);
  });
});

describe('the next looks', () => {
  const seconds = 2;
  /** Looks again after `after` seconds, and says how many were read anew. */
  const again = async (backend: ReturnType<typeof system>, at: number): Promise<number> => {
    proc.uptime(at);
    await backend.sample();
    return backend.table.cost.reread;
  };
  const many = (count: number): void => {
    for (let n = 0; n < count; n += 1) proc.put({ pid: 100 + n });
  };

  it('read followed processes every time, the others in slices', async () => {
    many(80);
    const backend = system();
    expect(await again(backend, 5000)).toBe(80);
    backend.follow(new Set(['100:1000', '101:1000']));
    for (let look = 1; look <= 4; look += 1) {
      const reread = await again(backend, 5000 + look * seconds);
      expect(reread).toBeGreaterThanOrEqual(20);
      expect(reread).toBeLessThanOrEqual(22);
    }
  });

  it('read every process where a plan hangs on it', async () => {
    many(80);
    const backend = system();
    await again(backend, 5000);
    for (let n = 0; n < 80; n += 1) proc.put({ pid: 100 + n, state: 'T' });
    proc.uptime(5000.1);
    const { processes } = await backend.sample({ whole: true });
    expect(processes.every(p => p.state === 'T' && p.cpu === 0)).toBe(true);
    expect(backend.table.cost.reread).toBe(80);
  });

  it('notice any change of an unrelated process within ten seconds, whatever ends meanwhile', async () => {
    many(60);
    const backend = system();
    await again(backend, 5000);
    for (let n = 0; n < 60; n += 1) proc.put({ pid: 100 + n, state: 'T' });
    for (let look = 1; look <= 5; look += 1) {
      proc.end(100 + look); // shifts every later position
      await again(backend, 5000 + look * seconds);
    }
    const { processes } = await backend.sample();
    expect(processes.filter(p => p.state !== 'T')).toEqual([]);
    expect(processes).toHaveLength(55);
  });

  it('see a new pid at once, and forget an ended one at once', async () => {
    many(40);
    const backend = system();
    await again(backend, 5000);
    proc.put({ pid: 900, comm: 'claude' });
    proc.end(139);
    proc.uptime(5000.1);
    const { processes } = await backend.sample();
    expect(processes.map(p => p.pid)).toContain(900);
    expect(processes.map(p => p.pid)).not.toContain(139);
  });

  it('take a reused pid for a new process', async () => {
    proc.put({ pid: 100, start: 1000, cmdline: 'old\0' });
    const backend = system();
    await again(backend, 5000);
    proc.put({ pid: 100, start: 2000, cmdline: 'new\0' });
    proc.uptime(5008);
    expect((await backend.sample()).processes[0]).toMatchObject({ start: '2000', argv: ['new'], cpu: null });
  });

  it('notice an exec by the name, and by the moved stack when the name is the same', async () => {
    proc.put({ pid: 100, comm: 'sh', stack: 500, cmdline: 'sh\0' });
    proc.put({ pid: 101, comm: 'node', stack: 500, cmdline: 'node\0a\0' });
    proc.put({ pid: 102, comm: 'node', stack: 1, cmdline: 'node\0a\0' });
    const backend = system();
    await again(backend, 5000);
    proc.put({ pid: 100, comm: 'claude', stack: 600, cmdline: 'claude\0' });
    proc.put({ pid: 101, comm: 'node', stack: 600, cmdline: 'node\0b\0' });
    proc.put({ pid: 102, comm: 'node', stack: 1, cmdline: 'node\0b\0' });
    proc.uptime(5008);
    const { processes } = await backend.sample();
    expect(processes.map(p => p.argv)).toEqual([['claude'], ['node', 'b'], ['node', 'b']]);
  });

  it('notice an exec into the same words: whoever remembers something by argv forgets it', async () => {
    proc.put({ pid: 100, comm: 'node', stack: 500, cmdline: 'node\0a\0' });
    const backend = system();
    const argvAt = async (at: number): Promise<readonly string[] | null | undefined> => {
      proc.uptime(at);
      return (await backend.sample()).processes[0]?.argv;
    };
    const before = await argvAt(5000);
    expect(await argvAt(5008)).toBe(before);
    proc.put({ pid: 100, comm: 'node', stack: 600, cmdline: 'node\0a\0' });
    const after = await argvAt(5016);
    expect(after).toEqual(before);
    expect(after).not.toBe(before);
  });

  it('read the words again of a process that was caught in the middle of an exec', async () => {
    const backend = system();
    const words = async (at: number) => {
      proc.uptime(at);
      return (await backend.sample()).processes[0]?.argv;
    };
    proc.put({ pid: 100, comm: 'claude', stack: 600, cmdline: '' });
    for (const at of [5000, 5008, 5016]) expect(await words(at)).toEqual([]);
    proc.put({ pid: 100, comm: 'claude', stack: 600, cmdline: 'claude\0-p\0' });
    expect(await words(5024)).toEqual(['claude', '-p']);
  });

  it('read one that has just been forked every time: it is still to become what it is', async () => {
    many(80);
    const backend = system();
    await again(backend, 5000);
    backend.follow(new Set());
    proc.put({ pid: 900, start: 500_010, comm: 'supervisor.sh', stack: 500, cmdline: 'sh\0supervisor.sh\0' });
    const words = async (at: number) => {
      proc.uptime(at);
      return (await backend.sample()).processes.find(p => p.pid === 900)?.argv;
    };
    expect(await words(5000.1)).toEqual(['sh', 'supervisor.sh']);
    proc.put({ pid: 900, start: 500_010, comm: 'sleep', stack: 600, cmdline: 'sleep\0inf\0' });
    expect(await words(5000.2)).toEqual(['sleep', 'inf']);
    // Seen as it is two seconds later, it is one of the others.
    await words(5002.2);
    proc.put({ pid: 900, start: 500_010, comm: 'late', stack: 700, cmdline: 'late\0' });
    expect(await words(5002.3)).toEqual(['sleep', 'inf']);
  });

  it('give CPU as the share of the time between two looks', async () => {
    proc.put({ pid: 100, ticks: 100 });
    const backend = system();
    await again(backend, 5000);
    backend.follow(new Set(['100:1000']));
    proc.put({ pid: 100, ticks: 150 });
    proc.uptime(5002);
    expect((await backend.sample()).processes[0]?.cpu).toBeCloseTo(25);
  });

  it('keep the name of a process that became a zombie', async () => {
    proc.put({ pid: 100, comm: 'lake.orig', cmdline: 'lake\0build\0' });
    const backend = system();
    await again(backend, 5000);
    proc.put({ pid: 100, comm: 'lake.orig', state: 'Z', stack: 0, cmdline: '' });
    proc.uptime(5008);
    expect((await backend.sample()).processes[0]).toMatchObject({
      state: 'Z',
      comm: 'lake.orig',
      argv: null,
    });
  });
});

it('one that ends in the middle of its exec has ended: it is not there unreadable', async () => {
  proc.put({ pid: 100, comm: 'sh', stack: 500, cmdline: 'sh\0' });
  const facts = (await system().sample()).processes[0]!;
  const stat = parseStatLine(statLine({ pid: 100, comm: 'true', stack: 600 }).toString('latin1'))!;
  const reader = new FactReader(proc.root, { pageSize: 4096, ticksPerSecond: 100 });
  const known = { facts, startStack: 500, cpuTicks: 0, readAt: 5000 };
  expect(reader.update(known, stat, 5001)).toMatchObject({ comm: 'true', unreadable: false });
  proc.end(100);
  expect(reader.update(known, stat, 5001)).toBeNull();
});

it('tells what is at a pid now, whatever the last look saw', async () => {
  proc.put({ pid: 100 });
  const backend = system();
  await backend.sample();
  proc.put({ pid: 100, start: 2000, state: 'T' });
  expect(await backend.presence(100)).toMatchObject({ identity: { pid: 100, start: '2000' }, state: 'T' });
  expect(await backend.presence(4711)).toEqual({ status: 'gone' });
  proc.file('101/stat', 'nonsense');
  expect(await backend.presence(101)).toMatchObject({ status: 'unreadable' });
});
