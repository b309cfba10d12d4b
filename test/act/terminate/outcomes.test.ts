import { beforeEach, describe, expect, test } from 'vitest';
import { concludeAll } from '../../../src/act/terminate/terminate.ts';
import type { TerminateRun, Tracked } from '../../../src/act/terminate/tracked.ts';
import type { ProcessFacts } from '../../../src/model/process.ts';
import { FakeSystem } from '../fake-system.ts';
import { clockWith, follow, runOn } from './a-run.ts';

const cancelled = AbortSignal.abort();
let machine: FakeSystem;
beforeEach(async () => {
  machine = new FakeSystem();
  machine.add(5, 800, { comm: 'sup' });
  machine.add(10, 5);
  await machine.clock.wait(700);
});

/** How one member ends up that is like this, and how long it took to say so. */
const conclude = async (
  part: Partial<Tracked>,
  run: Partial<TerminateRun> = {},
  change: () => void = () => {},
) => {
  const begun = await runOn(machine, run);
  const t = follow(begun, 10, part);
  change();
  const from = machine.clock.now();
  await concludeAll(begun);
  return { said: `${t.outcome?.outcome}: ${t.outcome?.why}`, ms: machine.clock.now() - from };
};

describe('what runs at the end', () => {
  test.each<[Partial<Tracked>, Partial<TerminateRun>, string]>([
    [{}, {}, 'refused: nothing was sent: the run ended before its turn'],
    [{}, { abort: cancelled }, 'refused: nothing was sent: it was cancelled'],
    [{ sent: 'SIGTERM' }, {}, 'survived: it still runs after SIGTERM (state S)'],
    [{ sent: 'SIGTERM' }, { abort: cancelled }, 'survived: it got SIGTERM and still runs: it was cancelled'],
    [{ sent: 'SIGKILL' }, { abort: cancelled }, 'survived: it still runs after SIGKILL (state S)'],
  ])('%j, %j: %s', async (part, run, said) => {
    expect(await conclude(part, run)).toEqual({ said, ms: 0 });
  });

  test('in the kernel’s hands ends when it comes back from there', async () => {
    machine.change(10, { state: 'D' });
    const { said } = await conclude({ sent: 'SIGKILL' });
    expect(said).toBe(
      'survived: it got SIGKILL but sits in uninterruptible I/O (state D): it ends when that returns',
    );
  });

  test('but cannot be read is as it was last seen, and not taken for ended', async () => {
    const hide = () => void machine.unreadable.add(10);
    const { said } = await conclude({ sent: 'SIGTERM', state: 'D' }, {}, hide);
    expect(said).toContain('survived: it got SIGTERM but sits in uninterruptible I/O');
    expect(await conclude({ sent: 'SIGTERM', heldBy: 5 }, {}, hide)).toEqual({
      said: 'survived: it still runs after SIGTERM (state S)',
      ms: 500,
    });
  });
});

describe('what does not', () => {
  test.each<[string, () => void]>([
    ['is gone', () => machine.remove(10)],
    ['has left its number to another', () => machine.change(10, { start: 'new' })],
  ])('%s: it was ended by what it got', async (_, change) => {
    for (const heldBy of [null, 5]) {
      machine.add(10, 5);
      expect(await conclude({ sent: 'SIGTERM', heldBy }, {}, change)).toEqual({
        said: 'ended: ended by SIGTERM',
        ms: 0,
      });
      machine.add(10, 5);
      expect((await conclude({ sent: 'SIGKILL', heldBy }, {}, change)).said).toBe('killed: ended by SIGKILL');
    }
  });

  test('and waits for its own parent gives that half a second to reap it', async () => {
    machine.change(10, { state: 'Z' });
    expect(await conclude({ sent: 'SIGTERM', heldBy: 5 })).toEqual({
      said: 'zombie: it ended, and 5 sup has not collected it',
      ms: 500,
    });
    const clock = clockWith(machine, 100, () => machine.remove(10));
    const { said, ms } = await conclude({ sent: 'SIGTERM', heldBy: 5 }, { clock });
    expect(said).toBe('ended: ended by SIGTERM');
    expect(ms).toBeLessThan(500);
  });

  test('is not waited for after the deadline or a cancellation', async () => {
    machine.change(10, { state: 'Z' });
    const part = { sent: 'SIGTERM', heldBy: 5 } as const;
    expect((await conclude(part, { deadlineAt: machine.clock.now() + 30 })).ms).toBe(30);
    expect((await conclude(part, { abort: cancelled })).ms).toBe(0);
  });

  test.each<[string, Partial<ProcessFacts>, () => void]>([
    ['PID 1', { ppid: 1 }, () => {}],
    ['nobody', { ppid: null }, () => {}],
    ['the kernel', { ppid: 0 }, () => {}],
    ['one that takes orphans in', { ppid: 5 }, () => machine.change(5, { comm: 'systemd' })],
  ])('and is held by %s has ended: that one reaps', async (_, facts, change) => {
    change();
    machine.change(10, { state: 'Z', ...facts });
    expect(await conclude({ sent: 'SIGTERM', heldBy: facts.ppid ?? null })).toEqual({
      said: 'ended: ended by SIGTERM',
      ms: 0,
    });
  });

  test('and was handed over when its parent ended has ended, too', async () => {
    expect(
      await conclude({ sent: 'SIGTERM', heldBy: 800 }, {}, () =>
        machine.change(10, { state: 'Z', ppid: 800 }),
      ),
    ).toEqual({ said: 'ended: ended by SIGTERM', ms: 0 });
  });

  test('and has a parent that the table does not know says no name of it', async () => {
    machine.change(10, { state: 'Z', ppid: 77 });
    expect((await conclude({ sent: 'SIGTERM' })).said).toBe(
      'zombie: it ended, and 77 its parent has not collected it',
    );
  });

  test('is waited for as long as one of several is not reaped; what is settled or runs is not waited for', async () => {
    machine.add(11, 1, { state: 'Z' });
    machine.add(12, 5);
    machine.change(10, { state: 'Z' });
    const run = await runOn(machine);
    const reaped = follow(run, 11, { sent: 'SIGTERM', heldBy: 1 });
    const kept = follow(run, 10, { sent: 'SIGTERM', heldBy: 5 });
    const denied = { pid: 12, start: 's12', name: 'x', outcome: 'denied', why: 'no', freed: 0 } as const;
    const settled = follow(run, 12, { heldBy: 5, outcome: denied });
    machine.remove(12);
    const from = machine.clock.now();
    await concludeAll(run);
    expect(machine.clock.now() - from).toBe(500);
    expect([reaped, kept, settled].map(t => t.outcome?.outcome)).toEqual(['ended', 'zombie', 'denied']);
    machine.remove(10);
    kept.outcome = null;
    await concludeAll(run);
    expect(machine.clock.now() - from).toBe(500);
  });
});
