import { beforeEach, describe, expect, test } from 'vitest';
import { takeCensus } from '../../../src/act/terminate/census.ts';
import { noteRespawns } from '../../../src/act/terminate/respawn.ts';
import type { TerminateRun, Tracked } from '../../../src/act/terminate/tracked.ts';
import type { ProcessFacts } from '../../../src/model/process.ts';
import { FakeSystem } from '../fake-system.ts';
import { follow, runOn } from './a-run.ts';

let machine: FakeSystem;
beforeEach(async () => {
  machine = new FakeSystem();
  machine.add(5, 800, { comm: 'sup' });
  machine.add(10, 5, { argv: ['srv'] });
  await machine.clock.wait(3000);
});

/** The server has ended, this has happened since, and somebody looks for what was started again. */
const lookAgain = async (
  change: () => void,
  { part = {}, member = {} }: { part?: Partial<TerminateRun>; member?: Partial<Tracked> } = {},
) => {
  const run = await runOn(machine, part);
  const t = follow(run, 10, { sent: 'SIGTERM', diedAt: machine.clock.now(), ...member });
  if (t.diedAt !== null) machine.remove(10);
  change();
  let looks = 0;
  const from = machine.clock.now();
  await noteRespawns(run, async () => {
    looks += 1;
    return takeCensus(machine);
  });
  return { run, t, looks, ms: machine.clock.now() - from, why: t.outcome?.why ?? null };
};
const started = (pid: number, facts: Partial<ProcessFacts> = {}) =>
  machine.add(pid, 5, { argv: ['srv'], ...facts });
const AGAIN = '5 sup started it again as 30: end or stop that one instead';

describe('a server that has ended', () => {
  test('was started again when its parent has a new child of the same words, and nobody waits any longer', async () => {
    const { t, ms, why } = await lookAgain(() => started(30));
    expect([t.outcome?.outcome, why, ms]).toEqual(['respawned', AGAIN, 0]);
  });

  test.each<[string, () => unknown]>([
    ['nothing was started', () => {}],
    ['something else was started', () => started(30, { argv: ['srv', '--other'] })],
    ['its parent is gone', () => machine.remove(5)],
    [
      'a stranger has the number of its parent',
      () => {
        machine.change(5, { start: 'new' });
        started(30);
      },
    ],
  ])('was not when %s; two seconds are waited for it', async (_, change) => {
    expect(await lookAgain(change)).toMatchObject({ ms: 2000, why: null });
  });

  test('and whose words were not read is like no other', async () => {
    machine.change(10, { argv: null });
    expect((await lookAgain(() => started(30, { argv: null }))).why).toBeNull();
  });

  test('is told of one new process, the first that was seen, also while another is waited for', async () => {
    machine.add(11, 5, { argv: ['other'] });
    const run = await runOn(machine);
    const [first, other] = [10, 11].map(pid => follow(run, pid, { diedAt: machine.clock.now() }));
    for (const pid of [10, 11]) machine.remove(pid);
    started(30);
    started(31);
    await noteRespawns(run, () => takeCensus(machine));
    expect([first?.outcome?.why, other?.outcome]).toEqual([AGAIN, null]);
    expect(run.progress).toHaveLength(1);
  });
});

describe('nobody is waited for', () => {
  test('when what runs on, has a parent in the plan, or has none that is known', async () => {
    expect(await lookAgain(() => started(30), { member: { diedAt: null } })).toMatchObject({
      looks: 0,
      why: null,
    });
    for (const ppid of [77, null]) {
      machine.add(10, 5, { argv: ['srv'], ppid });
      expect(await lookAgain(() => {})).toMatchObject({ looks: 0, ms: 0 });
    }
    machine.add(10, 5, { argv: ['srv'] });
    const run = await runOn(machine);
    follow(run, 5);
    const t = follow(run, 10, { diedAt: machine.clock.now() });
    machine.remove(10);
    started(31);
    await noteRespawns(run, () => takeCensus(machine));
    expect(t.outcome).toBeNull();
  });

  test('when its parent takes orphans in, when it was cancelled, or when no table can be had', async () => {
    machine.change(5, { comm: 'systemd' });
    expect(await lookAgain(() => {})).toMatchObject({ looks: 1, ms: 0 });
    machine.change(5, { comm: 'sup' });
    machine.add(10, 5, { argv: ['srv'] });
    expect(await lookAgain(() => {}, { part: { abort: AbortSignal.abort() } })).toMatchObject({
      looks: 1,
      ms: 0,
    });
    machine.add(10, 5, { argv: ['srv'] });
    const run = await runOn(machine);
    follow(run, 10, { diedAt: machine.clock.now() });
    const from = machine.clock.now();
    await noteRespawns(run, async () => null);
    expect(machine.clock.now()).toBe(from);
  });

  test('longer than the grace and its time on top, or than the whole run may last', async () => {
    expect((await lookAgain(() => {}, { part: { graceMs: 100 } })).ms).toBe(1700);
    machine.add(10, 5, { argv: ['srv'] });
    const deadlineAt = machine.clock.now() + 50;
    expect((await lookAgain(() => {}, { part: { deadlineAt } })).ms).toBe(50);
    machine.add(10, 5, { argv: ['srv'] });
    const diedAt = machine.clock.now() - 1500;
    expect((await lookAgain(() => {}, { member: { diedAt } })).ms).toBe(500);
  });
});

describe('below one that takes in everybody’s orphans', () => {
  const marks = { CLAUDE_CODE_SESSION_ID: 'a', CLAUDECODE: '1' };
  test.each<[string, ProcessFacts['env'], ProcessFacts['env'], boolean]>([
    ['all marks are the same', marks, marks, true],
    ['one mark differs', marks, { ...marks, CLAUDE_CODE_SESSION_ID: 'b' }, false],
    ['there are no marks', null, null, false],
    ['there are no marks to be read', {}, {}, false],
  ])('somebody may have fled when %s: %s', async (_, env, its, told) => {
    machine.change(5, { comm: 'systemd' });
    machine.change(10, { env });
    const { run, why } = await lookAgain(() => started(30, { env: its }));
    expect([run.warnings.length, why]).toEqual([told ? 1 : 0, null]);
  });
});
