import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { canHold, send, terminate } from '../../../src/act/terminate/terminate.ts';
import { rootsFirst, settle, stopReason } from '../../../src/act/terminate/tracked.ts';
import type { System } from '../../../src/observe/system.ts';
import { FakeSystem, planOf } from '../fake-system.ts';
import { follow, runOn } from './a-run.ts';

let machine: FakeSystem;
beforeEach(async () => {
  machine = new FakeSystem();
  machine.add(10, 1);
  await machine.clock.wait(1000);
  vi.spyOn(process, 'kill').mockImplementation((pid, signal) => {
    machine.deliver(pid, signal as 'SIGTERM');
    if (signal === 'SIGSTOP') machine.change(pid, { state: 'T' });
    return true;
  });
});
afterEach(() => vi.restoreAllMocks());

/** The same machine, reached by kill(2). */
const bare = (): System => {
  const system: System = {
    backend: machine.backend,
    readOnly: null,
    sample: () => machine.sample(),
    presence: pid => machine.presence(pid),
    environ: () => machine.environ(),
    details: () => machine.details(),
    proportionalMemory: () => machine.proportionalMemory(),
    follow: () => {},
    close: () => {},
  };
  return system;
};

describe('a member is held for its signal', () => {
  test('only where a look is quick and signals are real', () => {
    expect(canHold(bare())).toBe(true);
    expect(canHold(machine)).toBe(false);
    machine.backend = 'portable';
    expect(canHold(bare())).toBe(false);
  });

  test.each([
    [true, 'SIGTERM', ['SIGSTOP', 'SIGTERM']],
    [true, 'SIGKILL', ['SIGSTOP', 'SIGKILL']],
    [false, 'SIGTERM', ['SIGTERM']],
    [false, 'SIGKILL', ['SIGSTOP', 'SIGKILL']],
  ] as const)('held all along: %s, %s: %j', async (holds, signal, sent) => {
    const run = await runOn(machine, { holds, system: bare() });
    await send(run, follow(run, 10), signal);
    expect(machine.sent).toEqual(sent.map(name => `10 ${name}`));
  });

  test.each([
    [undefined, ['10 SIGSTOP', '10 SIGTERM']],
    [false, ['10 SIGSTOP', '10 SIGTERM']],
    [true, ['10 SIGTERM']],
  ])('in a plan by hand: %s: %j', async (allowSoft, sent) => {
    const plan = planOf([{ pid: 10, start: 's10' }]);
    const policy = { allowSoft } as NonNullable<typeof plan.policy>;
    await terminate({
      system: bare(),
      clock: machine.clock,
      plan: allowSoft === undefined ? plan : { ...plan, policy },
    });
    expect(machine.sent).toEqual(sent);
  });
});

describe('a signal', () => {
  test('is told of, and a stopped process goes on before TERM, but not before KILL', async () => {
    const run = await runOn(machine);
    for (const [signal, state, stopped] of [
      ['SIGTERM', 'T', false],
      ['SIGTERM', 'S', true],
      ['SIGKILL', 'T', true],
      ['SIGTERM', 'S', false],
    ] as const) {
      machine.add(10, 1);
      const t = follow(run, 10, { state }, { stopped });
      await send(run, t, signal);
      expect(t.sent).toBe(signal);
    }
    expect(machine.sent).toEqual([
      '10 SIGCONT',
      '10 SIGTERM',
      '10 SIGCONT',
      '10 SIGTERM',
      '10 SIGKILL',
      '10 SIGTERM',
    ]);
    expect(run.progress).toHaveLength(4);
    expect(run.progress[0]).toMatchObject({ type: 'signal', signal: 'SIGTERM', step: { pid: 10 } });
  });

  test.each([
    ['another process', null, 'gone', 'its pid names another process now: nothing was sent'],
    ['another process', 'SIGTERM', 'ended', 'ended by SIGTERM'],
    ['nobody', null, 'gone', 'it ended before its turn came'],
    ['nobody', 'SIGTERM', 'ended', 'ended by SIGTERM'],
    ['forbidden', null, 'denied', 'the system does not permit SIGKILL to it (EPERM)'],
    ['hidden', null, 'refused', 'it could not be identified again: hidden'],
    ['hidden', 'SIGTERM', 'survived', 'it got SIGTERM, then could not be identified again: hidden'],
  ] as const)('to one that is %s by now, after %s: %s', async (what, sent, outcome, why) => {
    const run = await runOn(machine);
    const t = follow(run, 10, { sent });
    if (what === 'another process') machine.change(10, { start: 'new' });
    if (what === 'nobody') machine.remove(10);
    if (what === 'forbidden') machine.denied.add(10);
    if (what === 'hidden') machine.unreadable.add(10);
    await send(run, t, 'SIGKILL');
    expect(t).toMatchObject({ sent, outcome: { outcome, why } });
    expect(t.diedAt).toBe(['another process', 'nobody'].includes(what) ? 1000 : null);
    expect(run.progress).toEqual([{ type: 'outcome', outcome: t.outcome }]);
    expect(machine.sent).toEqual([]);
  });

  test('to one whose pid was given away after its tree was signalled: it ended with the tree', async () => {
    machine.add(11, 10);
    const run = await runOn(machine);
    const root = { pid: 10, start: 's10' };
    follow(run, 11, { sent: 'SIGTERM' }, { root });
    const t = follow(run, 10, {}, { root });
    machine.change(10, { start: 'new' });
    await send(run, t, 'SIGTERM');
    expect(t.outcome).toMatchObject({ outcome: 'ended' });
    expect(machine.sent).toEqual([]);
  });

  test('to one that has ended and is not reaped notes who has it', async () => {
    const run = await runOn(machine);
    const t = follow(run, 10);
    machine.change(10, { state: 'Z' });
    await send(run, t, 'SIGTERM');
    expect(t).toMatchObject({ diedAt: 1000, heldBy: 1, outcome: null });
  });
});

test('KILL goes from the root down, whatever the order of the plan', async () => {
  machine.add(11, 10);
  machine.add(12, 11);
  machine.add(13, 1, { ppid: null });
  const run = await runOn(machine);
  const members = [12, 13, 11, 10].map(pid => follow(run, pid));
  expect(rootsFirst(run, members).map(t => t.step.pid)).toEqual([13, 10, 11, 12]);
});

test('a run stops when it is cancelled or its time is over, and says how much time that was', async () => {
  const run = await runOn(machine, { deadlineAt: 4000 });
  expect(stopReason(run)).toBeNull();
  expect(stopReason({ ...run, abort: AbortSignal.abort() })).toBe('it was cancelled');
  await machine.clock.wait(3000);
  expect(stopReason(run)).toBe('timed out after 3 s');
  const t = follow(run, 10);
  settle(run, t, 'survived', 'x');
  expect(run.progress).toEqual([{ type: 'outcome', outcome: t.outcome }]);
});
