import { beforeEach, describe, expect, test } from 'vitest';
import { noteEnds, presencesOf, settleDead, waitForEnds } from '../../../src/act/terminate/wait-for-ends.ts';
import type { FakeSystem } from '../fake-system.ts';
import { clockWith, countedMachine, follow, runOn } from './a-run.ts';

let machine: FakeSystem;
let looks: () => number;
beforeEach(async () => {
  ({ machine, looks } = countedMachine());
  machine.add(10, 1, { pgid: 4, sid: 3, rss: 77 });
  await machine.clock.wait(1000);
});

describe('what is at some pids', () => {
  const TEN = {
    status: 'present',
    identity: { pid: 10, start: 's10' },
    state: 'S',
    ppid: 1,
    pgid: 4,
    sid: 3,
    rss: 77,
  };

  test.each([
    ['procfs', 0],
    ['portable', 1],
  ] as const)(
    'is asked one by one, or of one table where each would be a `ps` (%s: %d looks)',
    async (backend, n) => {
      machine.backend = backend;
      expect([...(await presencesOf(machine, [10, 11]))]).toEqual([
        [10, TEN],
        [11, { status: 'gone' }],
      ]);
      expect(looks()).toBe(n);
    },
  );

  test('cannot be read without a table: that is no evidence of an end', async () => {
    machine.backend = 'portable';
    machine.lookFails = 'no ps';
    expect([...(await presencesOf(machine, [10, 11]))]).toEqual(
      [10, 11].map(pid => [pid, { status: 'unreadable', why: 'no ps' }]),
    );
  });
});

describe('one look at the members', () => {
  test.each<[string, () => void, object]>([
    ['runs', () => machine.change(10, { state: 'D' }), { diedAt: null, outcome: null, state: 'D' }],
    ['is hidden', () => void machine.unreadable.add(10), { diedAt: null, outcome: null, state: 'S' }],
    [
      'waits to be reaped',
      () => machine.change(10, { state: 'Z', ppid: 5 }),
      { diedAt: 1000, heldBy: 5, outcome: null, state: 'S' },
    ],
    ['is gone', () => machine.remove(10), { diedAt: 1000, heldBy: null, outcome: { outcome: 'ended' } }],
    [
      'is another',
      () => machine.change(10, { start: 'new' }),
      { diedAt: 1000, heldBy: null, outcome: { outcome: 'ended' } },
    ],
    [
      'is another, that has ended',
      () => machine.change(10, { start: 'new', state: 'Z' }),
      { diedAt: 1000, heldBy: null, outcome: { outcome: 'ended' } },
    ],
  ])('notes of one that %s', async (_, change, noted) => {
    const run = await runOn(machine);
    const t = follow(run, 10, { sent: 'SIGTERM' });
    change();
    await noteEnds(run);
    expect(t).toMatchObject(noted);
  });
});

describe('who has ended', () => {
  const say = async (sent: 'SIGTERM' | 'SIGKILL' | null, other: 'same root' | 'another root' | null) => {
    machine.add(11, 1);
    const run = await runOn(machine);
    const t = follow(run, 10, { sent });
    const root = other === 'same root' ? { pid: 10, start: 's10' } : { pid: 11, start: 's11' };
    follow(run, 11, { sent: other === null ? null : 'SIGTERM' }, { root });
    settleDead(run, t);
    return `${t.outcome?.outcome}: ${t.outcome?.why}`;
  };
  test.each([
    ['SIGKILL', null, 'killed: ended by SIGKILL'],
    ['SIGTERM', null, 'ended: ended by SIGTERM'],
    ['SIGTERM', 'same root', 'ended: ended by SIGTERM'],
    [null, null, 'gone: it ended before its turn came'],
    [null, 'another root', 'gone: it ended before its turn came'],
    [null, 'same root', 'ended: ended with the rest of its tree, before its own turn'],
  ] as const)('after %s, with a signal to one of %s: %s', async (sent, other, said) => {
    expect(await say(sent, other)).toBe(said);
  });

  test('in a tree of which nobody was signalled has ended by itself', async () => {
    machine.add(11, 10);
    const run = await runOn(machine);
    const root = { pid: 10, start: 's10' };
    const t = follow(run, 10, {}, { root });
    follow(run, 11, {}, { root });
    settleDead(run, t);
    expect(t.outcome?.outcome).toBe('gone');
  });
});

describe('waiting for ends', () => {
  test('lasts until the last one, and tells how long it has been', async () => {
    const clock = clockWith(machine, 300, () => machine.remove(10));
    const run = await runOn(machine, { clock });
    follow(run, 10, { sent: 'SIGTERM' });
    await waitForEnds(run, 9000);
    expect(machine.clock.now()).toBeLessThan(2000);
    expect(run.progress.slice(0, 2)).toEqual([
      { type: 'wait', left: 1, elapsedMs: 0, graceMs: 8000 },
      { type: 'wait', left: 1, elapsedMs: 5, graceMs: 8000 },
    ]);
  });

  test('lasts no longer than it may, and not at all once the run was cancelled', async () => {
    const run = await runOn(machine);
    follow(run, 10, { sent: 'SIGTERM' });
    await waitForEnds(run, 3000);
    expect(machine.clock.now()).toBe(3000);
    await waitForEnds({ ...run, deadlineAt: 3100 }, 9000);
    expect(machine.clock.now()).toBe(3100);
    await waitForEnds({ ...run, abort: AbortSignal.abort() }, 9000);
    expect(machine.clock.now()).toBe(3100);
  });

  test('sees what members start meanwhile, though not where every look is a `ps`, and goes on without a table', async () => {
    for (const backend of ['procfs', 'portable'] as const) {
      machine.backend = backend;
      const run = await runOn(machine);
      follow(run, 10, { sent: 'SIGTERM' });
      machine.add(20, 10, { born: 5000 });
      await waitForEnds(run, machine.clock.now() + 20);
      expect(run.links.size).toBe(backend === 'procfs' ? 1 : 0);
    }
    machine.backend = 'procfs';
    const run = await runOn(machine);
    follow(run, 10, { sent: 'SIGTERM' });
    machine.lookFails = 'no /proc';
    await waitForEnds(run, machine.clock.now() + 20);
    expect(run.warnings).toEqual([]);
  });
});
