import { beforeEach, describe, expect, test } from 'vitest';
import { begin } from '../../../src/act/terminate/begin.ts';
import { keyOf } from '../../../src/model/identity.ts';
import type { Plan } from '../../../src/model/plan.ts';
import { invent, machine as judged } from '../../judge/plan/machine.ts';
import { FakeSystem, planOf } from '../fake-system.ts';
import { runOn } from './a-run.ts';

let machine: FakeSystem;
beforeEach(() => {
  machine = new FakeSystem();
});

/** Who is signalled, in order, and what is said of the rest. `change`: between the table and the look at each. */
const start = async (
  plan: Plan,
  {
    change = () => {},
    confirmed = [],
    dropped = [],
    snapshot,
  }: {
    change?: () => void;
    confirmed?: readonly number[];
    dropped?: readonly number[];
    snapshot?: ReturnType<typeof judged>;
  } = {},
) => {
  const key = (pid: number) => keyOf({ pid, start: `s${pid}` });
  const run = await runOn(machine, {}, snapshot && (async () => snapshot));
  change();
  const { order, outcomes } = await begin(run, plan, {
    confirmed: new Set(confirmed.map(key)),
    dropped: new Map(dropped.map(pid => [key(pid), `${pid} was dropped`])),
  });
  return {
    run,
    order: order.map(t => t.step.pid),
    said: outcomes.map(o => `${o.pid} ${o.outcome}: ${o.why}`),
  };
};

describe('a step whose process', () => {
  const OTHER = '10 gone: it had already ended, and its pid names another process now: nothing was sent';
  test.each<[string, () => void, readonly string[]]>([
    ['is gone', () => machine.remove(10), ['10 gone: it had already ended']],
    ['is another by now', () => machine.change(10, { start: 'new' }), [OTHER]],
    [
      'has ended and is not reaped',
      () => machine.change(10, { state: 'Z' }),
      ['10 gone: it had already ended; its parent has not collected it'],
    ],
  ])('%s is said to be gone', async (_, change, said) => {
    const plan = planOf([machine.add(10, 1)]);
    const { run, ...result } = await start(plan, { change });
    expect(result).toEqual({ order: [], said });
    expect(run.progress).toEqual([{ type: 'outcome', outcome: expect.objectContaining({ pid: 10 }) }]);
    expect(run.tracked.size).toBe(0);
  });

  test('is in no table, or another in the table, is gone as well', async () => {
    const late = planOf([{ pid: 10, start: 's10' }]);
    expect(await start(late, { change: () => void machine.add(10, 1) })).toMatchObject({
      order: [],
      said: [OTHER],
    });
    machine.change(10, { start: 'new' });
    expect(await start(late, { change: () => machine.change(10, { start: 's10' }) })).toMatchObject({
      order: [],
      said: [OTHER],
    });
  });

  test('cannot be read is signalled all the same: the signal asks again, and refuses', async () => {
    const plan = planOf([machine.add(10, 1)]);
    expect(await start(plan, { change: () => void machine.unreadable.add(10) })).toMatchObject({
      order: [10],
      said: [],
    });
  });

  test('is as it is now, not as the table says', async () => {
    const plan = planOf([machine.add(10, 1)]);
    const { run } = await start(plan, { change: () => machine.change(10, { state: 'D', ppid: 800 }) });
    expect(run.byPid.get(10)?.facts).toMatchObject({ state: 'D', ppid: 800 });
  });
});

describe('what was started since the plan', () => {
  test('comes along before its parent, and is told of; what is planned comes once, what has ended never', async () => {
    const plan = planOf([machine.add(11, 10), machine.add(10, 1)]);
    machine.add(20, 10);
    machine.add(21, 20);
    machine.add(22, 11);
    machine.add(23, 10, { state: 'Z' });
    machine.add(24, 10);
    const { run, order } = await start(plan, { change: () => machine.change(24, { state: 'S' }) });
    expect(order).toEqual([22, 11, 24, 21, 20, 10]);
    expect(run.progress.map(event => event.type === 'join' && event.step.pid)).toEqual([22, 24, 21, 20]);
    expect(run.progress[0]).toMatchObject({
      step: { why: 'started below p11 (11) after the plan was made', root: plan.steps[0]!.root },
    });
  });

  test.each<[string, () => void]>([
    ['is gone', () => machine.remove(20)],
    ['is another', () => machine.change(20, { start: 'new' })],
    ['cannot be read', () => void machine.unreadable.add(20)],
    ['has another parent', () => machine.change(20, { ppid: 1 })],
  ])('does not come along when it %s by now', async (_, change) => {
    const plan = planOf([machine.add(10, 1)]);
    machine.add(20, 10);
    expect((await start(plan, { change })).order).toEqual([10]);
  });

  test('keeps the whole subtree when it is protected', async () => {
    const plan = planOf([machine.add(11, 10), machine.add(10, 1)]);
    machine.add(20, 10, { uid: 7 });
    const { run, order, said } = await start(plan);
    const why = 'refused: the whole subtree stays: p20 (20) is in it: it belongs to another user';
    expect([order, said]).toEqual([[], [`11 ${why}`, `10 ${why}`]]);
    expect([...run.spared]).toEqual(plan.steps.map(keyOf));
  });

  test('below a step that was dropped keeps nobody else, nor does it come along', async () => {
    const plan = planOf([machine.add(11, 10), machine.add(10, 1)]);
    machine.add(20, 11, { uid: 7 });
    const { run, order, said } = await start(plan, { dropped: [11] });
    expect([order, said]).toEqual([[10], ['11 refused: 11 was dropped']]);
    expect([...run.spared]).toEqual([keyOf({ pid: 11, start: 's11' })]);
  });
});

describe('what has become protected', () => {
  test('keeps its subtree, and the first reason is the one that is told', async () => {
    const plan = planOf([machine.add(11, 10, { uid: 7 }), machine.add(10, 1, { kernelThread: true })]);
    const why = 'the whole subtree stays: p11 (11) may not be ended now: it belongs to another user';
    expect((await start(plan)).said).toEqual([`11 refused: ${why}`, `10 refused: ${why}`]);
  });

  test.each<['soft' | 'hard', readonly number[], number, readonly number[]]>([
    ['soft', [10], 1000, [10]],
    ['soft', [], 1000, []],
    ['soft', [10], 7, []],
    ['hard', [10], 1000, []],
  ])('%s, confirmed %j, of user %d: %j is signalled', async (protection, confirmed, uid, order) => {
    const plan = planOf([{ ...machine.add(10, 1), confirm: true }]);
    const snapshot = judged(invent(10, 1, { protection, protectedBecause: 'clients', facts: { uid } }));
    const result = await start(plan, { confirmed, snapshot });
    expect(result.order).toEqual(order);
    expect(result.said).toHaveLength(1 - order.length);
  });

  test('is said not to have been confirmed', async () => {
    const plan = planOf([{ ...machine.add(10, 1), confirm: true }]);
    expect((await start(plan)).said).toEqual([
      '10 refused: the whole subtree stays: the protected p10 (10) was not confirmed by its pid',
    ]);
  });
});
