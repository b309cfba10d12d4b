import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type EndingSignal,
  sweepStubborn,
  sweepTree,
  type TreeSweepOptions,
} from '../../../src/act/portable/tree-sweep.ts';
import type { Identity } from '../../../src/model/identity.ts';
import type { SignalName } from '../../../src/model/plan.ts';
import { FakeSystem } from '../fake-system.ts';

let machine: FakeSystem;
let killed: number[];
beforeEach(() => {
  machine = new FakeSystem();
  killed = [];
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** tree-kill on the machine in memory: the process, then what is below it now. */
const treeKill = async (pid: number, signal: SignalName): Promise<'done' | 'denied'> => {
  killed.push(pid);
  const { processes } = await machine.sample();
  try {
    machine.deliver(pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? 'denied' : 'done';
  }
  for (const child of processes.filter(p => p.ppid === pid))
    if (machine.has(child.pid)) machine.deliver(child.pid, signal);
  return 'done';
};
const sweep = (root: Identity, signal: EndingSignal, options: TreeSweepOptions = {}) =>
  sweepTree(machine, root, signal, options, treeKill);

const deaf = (): void => {};
/** What happens between the look at the table and the look at the process. */
const afterTheLook = (happens: () => void): void => {
  const look = machine.sample.bind(machine);
  vi.spyOn(machine, 'sample').mockImplementation(async () => {
    const seen = await look();
    happens();
    return seen;
  });
};

describe('before a signal', () => {
  test('TERM goes to the leaves first, KILL to the root', async () => {
    const grow = () => [machine.add(700, 1), machine.add(701, 700)] as const;
    const [root] = grow();
    await sweep(root, 'SIGTERM');
    expect(machine.sent).toEqual(['701 SIGTERM', '700 SIGTERM']);
    machine.sent.length = 0;
    grow();
    await sweep(root, 'SIGKILL');
    expect(machine.sent[0]).toBe('700 SIGKILL');
  });

  test.each([
    { pid: 1, start: 's1' },
    { pid: 1, start: 'another' },
    { pid: 2, start: 'not in the table' },
    { pid: -1, start: 'everybody' },
  ])('one pid that may not be ended refuses them all: $pid, $start', async member => {
    const root = machine.add(700, 1);
    const swept = await sweep(root, 'SIGKILL', { members: [member] });
    expect(swept.map(({ outcome }) => outcome)).toEqual(['refused', 'refused']);
    expect(machine.sent).toEqual([]);
  });

  test.each([process.pid, 2])('a tree with %d in it is refused', async pid => {
    const root = machine.add(700, 1);
    machine.add(pid, 700);
    expect(await sweep(root, 'SIGKILL')).toMatchObject([{ pid: 700, outcome: 'refused' }]);
    expect(machine.sent).toEqual([]);
  });

  test.each<[string, string, () => void]>([
    ['can no longer be read', 'refused', () => machine.unreadable.add(700)],
    ['has ended', 'gone', () => machine.remove(700)],
    ['waits to be reaped', 'gone', () => machine.change(700, { state: 'Z' })],
    ['is somebody else', 'changed', () => machine.change(700, { start: 'new' })],
  ])('one that %s by then is %s, and gets none', async (_, outcome, happens) => {
    const root = machine.add(700, 1);
    afterTheLook(happens);
    expect(await sweep(root, 'SIGKILL', { settleMs: 0 })).toMatchObject([
      { pid: 700, start: 's700', outcome, why: expect.any(String) },
    ]);
    expect(machine.sent).toEqual([]);
  });

  test('only the parent of one that survived is signalled without its tree', async () => {
    const root = machine.add(700, 1);
    machine.add(701, 700, {}, deaf);
    machine.add(702, 700);
    machine.add(703, 702);
    const swept = await sweep(root, 'SIGTERM', { settleMs: 0 });
    expect(swept.map(({ pid, outcome }) => [pid, outcome])).toEqual([
      [700, 'ended'],
      [701, 'survived'],
      [703, 'ended'],
      [702, 'ended'],
    ]);
    expect(killed).toEqual([701, 703, 702]);
    expect(machine.sent.filter(sent => sent.startsWith('701'))).toHaveLength(1);
  });
});

describe('after a signal', () => {
  test.each<[string, string, (pid: number) => void]>([
    ['is a zombie', 'ended', pid => machine.change(pid, { state: 'Z' })],
    ['gave its pid away', 'ended', pid => machine.change(pid, { start: 'new' })],
    ['takes its time', 'ended', pid => void setTimeout(() => machine.remove(pid), 20)],
    ['cannot be read any more', 'survived', pid => machine.unreadable.add(pid)],
    ['is deaf', 'survived', deaf],
  ])('one that %s: %s', async (_, outcome, reacts) => {
    const root = machine.add(700, 1, {}, () => reacts(700));
    const settleMs = outcome === 'ended' ? 10_000 : 30;
    expect(await sweep(root, 'SIGTERM', { settleMs })).toMatchObject([{ pid: 700, outcome }]);
  });

  test('one that may not be signalled is told so, and not waited for', async () => {
    const root = machine.add(700, 1);
    machine.denied.add(700);
    expect(await sweep(root, 'SIGTERM', { settleMs: 1e6 })).toEqual([
      { pid: 700, start: 's700', outcome: 'denied', why: 'the system does not let us signal it' },
    ]);
  });
});

describe('what would not end', () => {
  test('is ended by name alone, and those that ended are given', async () => {
    const targets = [machine.add(700, 1), machine.add(710, 1), machine.add(720, 1)];
    machine.add(701, 700);
    machine.denied.add(710);
    machine.remove(720);
    const ended = await sweepStubborn(machine, targets, treeKill);
    expect(ended.map(({ pid }) => pid)).toEqual([700]);
    expect(machine.has(701)).toBe(true);
  });

  test('nothing is nothing', async () => {
    expect(await sweepStubborn(machine, [], treeKill)).toEqual([]);
  });
});
