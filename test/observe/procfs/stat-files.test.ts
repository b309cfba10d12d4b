import { readdirSync, readlinkSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BUFFER } from '../../../src/observe/procfs/read.ts';
import { procfsSystem } from '../../../src/observe/procfs/system.ts';
import { StatFiles } from '../../../src/observe/procfs/table.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';
import { FakeProc } from './fake-proc.ts';

/** Which processes' stat this very process has open below `root`. */
const openBelow = (root: string): number[] =>
  readdirSync('/proc/self/fd')
    .flatMap(fd => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        return []; // the listing itself
      }
    })
    .flatMap(
      path =>
        (path.startsWith(`${root}/`) ? /\/(\d+)\/stat( \(deleted\))?$/.exec(path)?.[1] : undefined) ?? [],
    )
    .map(Number)
    .sort((a, b) => a - b);

const text = (length: unknown): string =>
  typeof length === 'number' ? BUFFER.toString('latin1', 0, length) : String(length);

describe('below a directory that looks like /proc', () => {
  let proc: FakeProc;
  let files: StatFiles;
  beforeEach(() => {
    proc = new FakeProc();
    files = new StatFiles(proc.root);
  });
  afterEach(() => {
    files.close();
    proc.close();
  });

  it('keeps open only what will be read again', () => {
    for (const pid of [100, 101]) proc.put({ pid });
    files.read(100, false);
    files.read(101, true);
    expect(openBelow(proc.root)).toEqual([101]);
  });

  it('reads what is there now, each time from the beginning', () => {
    for (const comm of ['first', 'a second, longer', '3rd']) {
      proc.put({ pid: 100, comm });
      expect(text(files.read(100, true))).toMatch(new RegExp(`^100 \\(${comm}\\) S .* 0\n$`));
    }
    expect(openBelow(proc.root)).toEqual([100]);
  });

  it('says why where there is nothing to keep', () => {
    expect(files.read(100, true)).toBe('gone');
    expect(openBelow(proc.root)).toEqual([]);
  });

  it('takes whoever has the number now when there is nothing more to read of the one before', () => {
    proc.put({ pid: 100, comm: 'before' });
    files.read(100, true);
    truncateSync(join(proc.root, '100/stat'));
    rmSync(join(proc.root, '100/stat'));
    proc.put({ pid: 100, comm: 'after' });
    expect(text(files.read(100, true))).toContain('(after)');
    expect(text(files.read(100, true))).toContain('(after)');
    expect(openBelow(proc.root)).toEqual([100]);
  });

  it('keeps half of what this process may open beyond 256 files, and reads the rest all the same', () => {
    proc.file(
      'self/limits',
      'Limit    Soft Limit  Hard Limit  Units\nMax open files            262        4096     files\n',
    );
    for (let pid = 100; pid < 110; pid += 1) {
      proc.put({ pid });
      expect(text(files.read(pid, true))).toContain(`${pid} (sleep)`);
    }
    expect(openBelow(proc.root)).toEqual([100, 101, 102]);
    files.forget(101);
    files.read(109, true);
    expect(openBelow(proc.root)).toEqual([100, 102, 109]);
  });

  it('keeps none where there are few to have', () => {
    proc.file('self/limits', 'Max open files            64        64     files\n');
    proc.put({ pid: 100 });
    expect(text(files.read(100, true))).toContain('100 (sleep)');
    expect(openBelow(proc.root)).toEqual([]);
  });

  it('takes the usual limit where none is told', () => {
    for (let pid = 100; pid < 620; pid += 1) {
      proc.put({ pid });
      files.read(pid, true);
    }
    expect(openBelow(proc.root)).toHaveLength(384);
  });

  it('leaves none open when it is closed', () => {
    proc.put({ pid: 100 });
    files.read(100, true);
    files.close();
    expect(openBelow(proc.root)).toEqual([]);
  });

  it('serves the looks of a system, which lets go of what has ended', async () => {
    for (const pid of [100, 101, 102]) proc.put({ pid });
    const system = procfsSystem({ root: proc.root });
    const lookAt = async (seconds: number): Promise<number[]> => {
      proc.uptime(seconds);
      return (await system.sample()).processes.map(p => p.pid);
    };
    await lookAt(5000);
    expect(openBelow(proc.root)).toEqual([]); // --once has one look
    await lookAt(5008);
    expect(openBelow(proc.root)).toEqual([100, 101, 102]);
    proc.end(101);
    expect(await lookAt(5009)).toEqual([100, 102]);
    expect(openBelow(proc.root)).toEqual([100, 102]);
    system.close();
    expect(openBelow(proc.root)).toEqual([]);
  });
});

describe('a real process', () => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = new Sandbox();
  });
  afterEach(() => sandbox.close());

  it('is gone once it has ended, and its file is let go', async () => {
    const files = new StatFiles('/proc');
    const { pid } = sandbox.start(['sleep', '600']);
    await until('the exec', () => text(files.read(pid, true)).includes('(sleep)'));
    expect(openBelow('/proc')).toContain(pid);
    process.kill(pid, 'SIGKILL');
    await until('the end', () => files.read(pid, true) === 'gone');
    expect(openBelow('/proc')).not.toContain(pid);
  });
});
