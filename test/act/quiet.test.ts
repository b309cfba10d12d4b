import { describe, expect, test, vi } from 'vitest';
import type { Clock } from '../../src/act/clock.ts';
import { endZombies } from '../../src/act/end-zombies.ts';
import { FakeSystem, planOf } from './fake-system.ts';
import { kinds } from './stage.ts';

describe('the quiet time, through the system contract', () => {
  const setUp = () => {
    const machine = new FakeSystem();
    const parent = machine.add(10, 1);
    machine.add(11, 10, { state: 'Z' });
    machine.add(12, 10);
    const server = { ...parent, root: parent };
    const plan = planOf([
      { ...server, signal: 'SIGCHLD', rss: 0 },
      { pid: 12, start: 's12', root: parent },
      server,
    ]);
    return { machine, plan };
  };
  /** The clock of the machine, with something happening after that much time. */
  const during = (machine: FakeSystem, at: number, event: () => void): Clock => ({
    now: machine.clock.now,
    wait: async ms => {
      await machine.clock.wait(ms);
      if (machine.clock.now() >= at) event();
    },
  });

  test('a quiet server is ended, leaves first', async () => {
    const { machine, plan } = setUp();
    const { outcomes } = await endZombies({ system: machine, plan, clock: machine.clock, quietSeconds: 10 });
    expect(machine.sent).toEqual(['10 SIGCHLD', '12 SIGTERM', '10 SIGTERM']);
    expect(machine.clock.now()).toBeGreaterThanOrEqual(12_000);
    expect(outcomes.filter(o => o.pid !== 11).map(o => o.outcome)).toEqual(['ended', 'ended']);
  });

  test.each<[string, (m: FakeSystem) => void]>([
    ['used the CPU', m => m.change(12, { cpuSeconds: 1.01 })],
    ['started a child', m => m.has(13) || m.add(13, 12, { born: 5000 })],
    ['cannot be measured', m => m.change(12, { cpuSeconds: null })],
  ])('a server whose subtree %s stays', async (_, event) => {
    const { machine, plan } = setUp();
    const clock = during(machine, 9000, () => event(machine));
    const { outcomes } = await endZombies({ system: machine, plan, clock, quietSeconds: 10 });
    expect(machine.sent).toEqual(['10 SIGCHLD']);
    expect(kinds(outcomes)).toEqual({ zombie: 1, refused: 2 });
  });

  test('a server that reaps after all, during the quiet time, stays', async () => {
    const { machine, plan } = setUp();
    const clock = during(machine, 9000, () => machine.remove(11));
    const { outcomes } = await endZombies({ system: machine, plan, clock, quietSeconds: 10 });
    expect(machine.sent).toEqual(['10 SIGCHLD']);
    expect(kinds(outcomes)).toEqual({ ended: 1 });
  });

  test('nothing is ended without a nudge, without a table, or on a read-only system', async () => {
    const { machine, plan } = setUp();
    const go = (steps = plan.steps) =>
      endZombies({ system: machine, plan: { ...plan, steps }, clock: machine.clock, quietSeconds: 10 });
    expect((await go(plan.steps.slice(1))).outcomes).toEqual([]);
    machine.lookFails = 'no /proc';
    expect(kinds((await go()).outcomes)).toEqual({ refused: 3 });
    machine.lookFails = null;
    machine.readOnly = 'recorded';
    expect(kinds((await go()).outcomes)).toEqual({ refused: 3 });
    expect(machine.sent).toEqual([]);
  });

  test('a server whose subtree could not be measured before stays', async () => {
    const { machine, plan } = setUp();
    machine.change(12, { cpuSeconds: null });
    const clock = during(machine, 9000, () => machine.change(12, { cpuSeconds: 0 }));
    const { outcomes } = await endZombies({ system: machine, plan, clock, quietSeconds: 10 });
    expect(kinds(outcomes)).toEqual({ zombie: 1, refused: 2 });
  });

  test('what ended meanwhile below a server is no work of it', async () => {
    const { machine, plan } = setUp();
    const clock = during(machine, 9000, () => machine.has(14) || machine.add(14, 10, { state: 'Z' }));
    await endZombies({ system: machine, plan, clock, quietSeconds: 10 });
    expect(machine.sent).toEqual(['10 SIGCHLD', '12 SIGTERM', '10 SIGTERM']);
  });

  test('its CPU time is read again for the second look', async () => {
    const { machine, plan } = setUp();
    const follow = vi.spyOn(machine, 'follow');
    await endZombies({ system: machine, plan, clock: machine.clock, quietSeconds: 10 });
    expect(follow).toHaveBeenCalledWith(new Set(['10:s10', '12:s12']));
  });

  test.each([2, 3])('without a table for look %d it stays', async nth => {
    const { machine, plan } = setUp();
    const look = machine.sample.bind(machine);
    let looks = 0;
    machine.sample = () => {
      looks += 1;
      if (looks === nth) return Promise.reject(new Error('no /proc'));
      return look();
    };
    const { outcomes } = await endZombies({ system: machine, plan, clock: machine.clock, quietSeconds: 10 });
    expect(machine.sent).toEqual(['10 SIGCHLD']);
    expect(outcomes.filter(o => o.outcome === 'refused').map(o => o.why)).toEqual(
      Array(2).fill('it stays: the process table could not be read: no /proc'),
    );
  });

  test('a server that is gone by then needs no end', async () => {
    const { machine, plan } = setUp();
    const clock = during(machine, 9000, () => {
      for (const pid of [10, 12]) if (machine.has(pid)) machine.remove(pid);
      machine.change(11, { ppid: 10 });
    });
    const { outcomes } = await endZombies({ system: machine, plan, clock, quietSeconds: 10 });
    expect(machine.sent).toEqual(['10 SIGCHLD']);
    expect(outcomes.map(o => o.outcome)).not.toContain('refused');
  });

  test('cancelled during the quiet time: it stays', async () => {
    const { machine, plan } = setUp();
    const cancel = new AbortController();
    const clock = during(machine, 9000, () => cancel.abort());
    const { outcomes } = await endZombies({
      system: machine,
      plan,
      clock,
      quietSeconds: 10,
      signal: cancel.signal,
    });
    expect(machine.sent).toEqual(['10 SIGCHLD']);
    expect(outcomes.filter(o => o.pid !== 11).map(o => o.why)).toEqual(
      Array(2).fill('it stays: it was cancelled'),
    );
  });
});
