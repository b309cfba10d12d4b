import { beforeEach, describe, expect, test } from 'vitest';
import { executeSignals, type SignalOptions } from '../../src/act/signal-plan.ts';
import { handPolicy } from '../../src/judge/plan/compose.ts';
import { keyOf } from '../../src/model/identity.ts';
import type { SignalName } from '../../src/model/plan.ts';
import { invent, machine as judged } from '../judge/plan/machine.ts';
import { FakeSystem, planOf } from './fake-system.ts';
import { clockWith } from './terminate/a-run.ts';

let machine: FakeSystem;
beforeEach(() => {
  machine = new FakeSystem();
});
const deaf = (): void => {};

/** What is said of 10 after this signal, and how long it took. */
const send = async (signal: SignalName, options: Partial<SignalOptions> = {}, confirm = false) => {
  const plan = planOf([{ pid: 10, start: 's10', signal, confirm }]);
  const from = machine.clock.now();
  const result = await executeSignals({ system: machine, clock: machine.clock, plan, ...options });
  const said = result.outcomes.map(o => `${o.outcome}: ${o.why}`).join();
  return { said, ms: machine.clock.now() - from, summary: result.summary };
};

describe('a signal of choice is not sent', () => {
  test.each<[string, () => void, string]>([
    ['has ended', () => machine.remove(10), 'gone: it had already ended'],
    [
      'is another',
      () => machine.change(10, { start: 'new' }),
      'gone: its pid names another process now: nothing was sent',
    ],
    [
      'may not be signalled',
      () => void machine.denied.add(10),
      'denied: the system does not permit SIGTERM to it (EPERM)',
    ],
    ['is hidden', () => void machine.unreadable.add(10), 'refused: it could not be identified again: hidden'],
    [
      'is only a record',
      () => {
        machine.readOnly = 'a recorded table';
      },
      'refused: a recorded table',
    ],
  ])('to one that %s', async (_, change, said) => {
    machine.add(10, 1);
    change();
    expect(await send('SIGTERM')).toEqual({ said, ms: 0, summary: 'SIGTERM sent to 0, not to 1' });
    expect(machine.sent).toEqual([]);
  });

  test('once it was cancelled, nor to the protected whose pid nobody typed', async () => {
    machine.add(10, 1, {}, deaf);
    expect((await send('SIGTERM', { signal: AbortSignal.abort() })).said).toBe(
      'refused: nothing was sent: it was cancelled',
    );
    const refusal = 'refused: it is protected and was not confirmed by its pid';
    expect((await send('SIGCONT', {}, true)).said).toBe(refusal);
    expect((await send('SIGCONT', { confirmed: new Set() }, true)).said).toBe(refusal);
    expect(machine.sent).toEqual([]);
    await send('SIGCONT', { confirmed: new Set([keyOf({ pid: 10, start: 's10' })]) }, true);
    expect(machine.sent).toEqual(['10 SIGCONT']);
  });

  test('when a look right before says that it has become protected: the plan is to be read again', async () => {
    machine.add(10, 1, {}, deaf);
    const plan = { ...planOf([{ pid: 10, start: 's10', signal: 'SIGSTOP' }]), policy: handPolicy() };
    const protect = { protection: 'hard', protectedBecause: 'a tmux server' } as const;
    const act = (part: object) =>
      executeSignals({
        system: machine,
        clock: machine.clock,
        plan,
        resample: async () => judged(invent(10, 1, part)),
      });
    const refused = await act(protect);
    expect(refused.worse).toEqual([expect.stringContaining('is protected now: a tmux server')]);
    expect(refused.outcomes).toMatchObject([{ outcome: 'refused', why: refused.summary }]);
    expect(machine.sent).toEqual([]);
    expect((await act({})).worse).toEqual([]);
    expect(machine.sent).toEqual(['10 SIGSTOP']);
  });

  test('to nobody', async () => {
    const result = await executeSignals({ system: machine, clock: machine.clock, plan: planOf([]) });
    expect(result).toEqual({ outcomes: [], summary: 'nothing sent to 0', worse: [] });
  });
});

describe('what comes of it', () => {
  test.each([
    ['SIGTERM', 'ended: ended by SIGTERM'],
    ['SIGKILL', 'killed: ended by SIGKILL'],
  ] as const)('%s: %s', async (signal, said) => {
    machine.add(10, 1);
    expect(await send(signal)).toEqual({ said, ms: 0, summary: `${signal} sent to 1` });
  });

  test.each<[string, () => void, string]>([
    ['is gone', () => machine.remove(10), 'ended: ended by SIGTERM'],
    ['is another', () => machine.change(10, { start: 'new' }), 'ended: ended by SIGTERM'],
    ['waits to be reaped', () => machine.change(10, { state: 'Z' }), 'ended: ended by SIGTERM'],
    ['is hidden', () => void machine.unreadable.add(10), 'survived: it got SIGTERM and runs on'],
  ])('after a while, when it %s', async (_, change, said) => {
    machine.add(10, 1, {}, deaf);
    const result = await send('SIGTERM', { clock: clockWith(machine, 300, change) });
    expect(result.said).toBe(said);
    expect(result.ms).toBeGreaterThanOrEqual(300);
    if (said.startsWith('ended')) expect(result.ms).toBeLessThan(1000);
  });

  test('one that runs on is watched for a second, or until it is cancelled', async () => {
    machine.add(10, 1, {}, deaf);
    const { said, ms } = await send('SIGTERM', { signal: new AbortController().signal });
    expect(said).toBe('survived: it got SIGTERM and runs on');
    expect(ms).toBeGreaterThanOrEqual(1000);
    expect(ms).toBeLessThan(1200);
    const cancel = new AbortController();
    const clock = clockWith(machine, 1, () => cancel.abort());
    expect((await send('SIGTERM', { clock, signal: cancel.signal })).ms).toBeLessThan(100);
  });

  test.each(['SIGCONT', 'SIGSTOP', 'SIGUSR1'] as const)('nobody is watched after %s', async signal => {
    machine.add(10, 1, {}, deaf);
    expect(await send(signal)).toEqual({
      said: `survived: it got ${signal} and runs on`,
      ms: 0,
      summary: `${signal} sent to 1`,
    });
  });

  test('one that ended keeps its outcome while another is watched', async () => {
    machine.add(11, 1, {}, deaf);
    const steps = [machine.add(10, 1), { pid: 11, start: 's11' }].map(id => ({
      ...id,
      signal: 'SIGTERM' as const,
    }));
    const clock = clockWith(machine, 50, () => machine.add(10, 1));
    const result = await executeSignals({ system: machine, clock, plan: planOf(steps) });
    expect(result.outcomes.map(o => o.outcome)).toEqual(['ended', 'survived']);
  });
});
