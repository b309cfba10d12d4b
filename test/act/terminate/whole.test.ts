import { beforeEach, describe, expect, test } from 'vitest';
import { type TerminateOptions, terminate } from '../../../src/act/terminate/terminate.ts';
import { handPolicy, leakPolicy } from '../../../src/judge/plan/compose.ts';
import type { Identity } from '../../../src/model/identity.ts';
import type { Plan } from '../../../src/model/plan.ts';
import { invent, machine as judged } from '../../judge/plan/machine.ts';
import { type FakeSystem, planOf } from '../fake-system.ts';
import { clockWith, countedMachine } from './a-run.ts';

let machine: FakeSystem;
let looks: () => number;
beforeEach(async () => {
  ({ machine, looks } = countedMachine());
  await machine.clock.wait(1000);
});
const run = (plan: Plan, options: Partial<TerminateOptions> = {}) =>
  terminate({ system: machine, clock: machine.clock, plan, ...options });
const deaf = (_: string, m: FakeSystem): void => void m;
const deafTo =
  (pid: number, onKill: (m: FakeSystem) => void = m => m.remove(pid)) =>
  (signal: string, m: FakeSystem) => {
    if (signal === 'SIGKILL') onKill(m);
  };

describe('a plan that is not begun', () => {
  test('has nothing to tell when it is empty, and looks at nothing', async () => {
    expect(await run(planOf([]))).toEqual({
      outcomes: [],
      freed: 0,
      durationMs: 0,
      stopped: null,
      warnings: [],
      worse: [],
    });
    expect(looks()).toBe(0);
  });

  test('tells of every step that it was refused, and when a person has to read it again', async () => {
    const plan = planOf([machine.add(11, 10), machine.add(10, 1)]);
    const events: unknown[] = [];
    machine.readOnly = 'a recorded table';
    const refused = await run(plan, { onProgress: event => events.push(event) });
    expect(refused).toMatchObject({ freed: 0, durationMs: 0, warnings: [], worse: [] });
    expect(events).toEqual(refused.outcomes.map(outcome => ({ type: 'outcome', outcome })));
    machine.readOnly = null;
    const resample = async () =>
      judged(invent(10, 1), invent(11, 10, { protection: 'hard', protectedBecause: 'a tmux server' }));
    const byHand = { ...plan, policy: handPolicy() };
    const again = await run(byHand, { resample });
    expect(again.worse).toEqual([expect.stringContaining('is protected now: a tmux server')]);
    expect(again.outcomes.map(o => o.why)).toEqual(Array(2).fill(`read the plan again: ${again.worse[0]}`));
    expect(machine.sent).toEqual([]);
  });

  test('in part, by itself, leaves out what is no leak any more', async () => {
    const own = (id: Identity) => ({ ...id, root: id });
    const plan = planOf([own(machine.add(10, 1)), own(machine.add(20, 1))]);
    const policy = leakPolicy('clean');
    const resample = async () =>
      judged(
        ...[10, 20]
          .filter(pid => machine.has(pid))
          .map(pid => invent(pid, 1, pid === 10 ? { protection: 'hard', verdict: 'protected' } : {})),
      );
    await run({ ...plan, policy }, { resample });
    expect(machine.sent).toEqual(['20 SIGTERM']);
  });
});

describe('a run', () => {
  test('says how long it took and what it freed', async () => {
    const plan = planOf([machine.add(10, 1)]);
    expect(await run(plan)).toMatchObject({
      durationMs: 0,
      freed: 100,
      stopped: null,
      warnings: [],
      worse: [],
    });
    expect(machine.clock.now()).toBe(1000);
  });

  test('kills nobody when it may not', async () => {
    const { outcomes } = await run(planOf([machine.add(10, 1, {}, deaf)]), { kills: false });
    expect(machine.sent).toEqual(['10 SIGTERM']);
    expect(outcomes).toMatchObject([{ outcome: 'survived' }]);
  });

  test('kills from the root down and without a grace when that is asked for', async () => {
    const plan = planOf([
      { ...machine.add(11, 10), signal: 'SIGKILL' },
      { ...machine.add(10, 1), signal: 'SIGTERM' },
    ]);
    await run(plan);
    expect(machine.sent).toEqual(['10 SIGTERM', '11 SIGKILL']);
    machine.sent.length = 0;
    const stuck = planOf([{ ...machine.add(12, 1, {}, deaf), signal: 'SIGKILL' }]);
    expect((await run(stuck)).durationMs).toBeLessThan(8000);
  });

  test('waits a moment for what was killed to be gone', async () => {
    const dying = machine.add(10, 1, {}, () => {});
    const clock = clockWith(machine, 600, () => machine.remove(10));
    expect((await run(planOf([dying]), { clock, graceMs: 100 })).outcomes).toMatchObject([
      { outcome: 'killed' },
    ]);
    expect(machine.clock.now()).toBeLessThan(2600);
  });

  test('gives newcomers of members that ended early TERM and the rest of the grace, unless it was cancelled', async () => {
    for (const cancel of [null, new AbortController()]) {
      machine.sent.length = 0;
      const parent = machine.add(10, 1, { pgid: 10, sid: 10 }, (_, m) => {
        m.change(10, { state: 'Z' });
        m.add(20, 1, { born: 5000, pgid: 10, sid: 10 });
        cancel?.abort();
      });
      await run(planOf([parent]), { signal: cancel?.signal });
      expect(machine.sent).toEqual(['10 SIGTERM', ...(cancel === null ? ['20 SIGTERM'] : [])]);
      for (const pid of [10, 20]) machine.remove(pid);
    }
  });

  test('gives up on a tree that outruns four rounds of KILL', async () => {
    const own = { pgid: 10, sid: 10 };
    const fleeing = (pid: number) =>
      deafTo(pid, m => {
        m.change(pid, { state: 'Z' });
        m.add(pid + 1, 1, { born: 5000, ...own }, fleeing(pid + 1));
      });
    const { outcomes } = await run(planOf([machine.add(10, 1, own, fleeing(10))]));
    expect(machine.sent.filter(sent => sent.endsWith('KILL'))).toEqual(
      [10, 11, 12, 13].map(pid => `${pid} SIGKILL`),
    );
    expect(outcomes.map(o => o.outcome)).toEqual(Array(4).fill('killed'));
    expect(machine.has(14)).toBe(true);
  });

  test('looks no further once nobody is left to be killed', async () => {
    const stubborn = machine.add(10, 1, {}, deafTo(10));
    await run(planOf([stubborn]), { graceMs: 1 });
    // Before, while it waits, for newcomers before KILL and after it, for respawns.
    expect(looks()).toBe(5);
  });

  test.each([
    ['killed', true],
    ['ended', false],
  ])('tells once that newcomers cannot be seen, and what is planned is %s', async (outcome, isDeaf) => {
    machine.add(5, 800);
    const plan = planOf([machine.add(10, 5, {}, isDeaf ? deafTo(10) : undefined)]);
    const { outcomes, warnings } = await run(plan, {
      onProgress: event => {
        if (event.type === 'signal') machine.lookFails = '/proc is gone';
      },
    });
    expect(outcomes).toMatchObject([{ outcome }]);
    expect(warnings).toEqual(['the process table could not be read again: /proc is gone']);
  });
});

test('one that ignores TERM gets one KILL', async () => {
  await run(planOf([machine.add(10, 1, {}, deafTo(10))]));
  expect(machine.sent).toEqual(['10 SIGTERM', '10 SIGKILL']);
});
