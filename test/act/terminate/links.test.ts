import { beforeEach, describe, expect, test } from 'vitest';
import { noteLinks } from '../../../src/act/terminate/links.ts';
import type { TerminateRun } from '../../../src/act/terminate/tracked.ts';
import type { ProcessFacts } from '../../../src/model/process.ts';
import { FakeSystem } from '../fake-system.ts';
import { follow, runOn } from './a-run.ts';

const newborn = { born: 5000 };
let machine: FakeSystem;
beforeEach(() => {
  machine = new FakeSystem();
});

/** A run whose members are 10, and 11 below it, with these groups. */
const begin = async (
  ten: Partial<ProcessFacts> = {},
  eleven: Partial<ProcessFacts> = { pgid: 3, sid: 3 },
): Promise<TerminateRun> => {
  machine.add(10, 1, ten);
  machine.add(11, 10, eleven);
  const run = await runOn(machine);
  follow(run, 10, { sent: 'SIGTERM' });
  follow(run, 11, { sent: 'SIGTERM' });
  return run;
};
/** Whom the run takes for started by its members, when the table says so. */
const linked = async (run: TerminateRun, ...stale: Partial<ProcessFacts>[]): Promise<number[]> => {
  const { processes } = await machine.sample();
  const table = processes.map(p => ({ ...p, ...stale.find(({ pid }) => pid === p.pid) }));
  await noteLinks(run, table.reverse());
  return [...run.links.values()].map(({ facts }) => facts.pid).sort();
};

describe('a child', () => {
  test('is linked to the member that is its parent, and so are children of its own, in whatever order they are listed', async () => {
    const run = await begin();
    machine.add(20, 10, newborn);
    machine.add(21, 20, newborn);
    machine.add(22, 21, newborn);
    expect(await linked(run)).toEqual([20, 21, 22]);
    expect([...run.links.values()].map(({ member }) => member.step.pid)).toEqual([10, 10, 10]);
  });

  test('is linked also when it is in the group of its parent', async () => {
    const run = await begin({ pgid: 10, sid: 10 });
    machine.add(20, 10, { ...newborn, pgid: 10, sid: 4 });
    expect(await linked(run)).toEqual([20]);
  });

  test.each<[string, () => void]>([
    ['is gone', () => machine.remove(20)],
    ['is another process', () => machine.change(20, { start: 'new' })],
    ['has ended', () => machine.change(20, { state: 'Z' })],
    ['cannot be read', () => machine.unreadable.add(20)],
    ['has another parent', () => machine.change(20, { ppid: 800 })],
    ['has a parent that died, whose number a stranger has', () => machine.change(10, { start: 'new' })],
    ['has a parent that ended', () => machine.change(10, { state: 'Z' })],
    ['has a parent that is gone', () => machine.remove(10)],
  ])('of the table that %s by now is not linked', async (_, change) => {
    const run = await begin();
    machine.add(20, 10, newborn);
    const { processes } = await machine.sample();
    change();
    await noteLinks(run, processes);
    expect(run.links.size).toBe(0);
  });

  test('is not linked without a parent, or to a member that may not be ended', async () => {
    const run = await begin();
    const denied = { pid: 10, start: 's10', name: 'p10', outcome: 'denied', why: 'no', freed: 0 } as const;
    run.byPid.get(10)!.outcome = denied;
    machine.add(20, 10, newborn);
    machine.add(21, 1, { ...newborn, ppid: null });
    expect(await linked(run)).toEqual([]);
  });
});

describe('an orphan', () => {
  test.each<[string, Partial<ProcessFacts>, boolean]>([
    ['born in the moment of the table', { born: 1000 }, true],
    ['born as little before it as clocks count', { born: 1000 - 0.02 }, true],
    ['born before', { born: 999.9 }, false],
  ])('%s joins the group it is in: %s', async (_, facts, joins) => {
    const run = await begin({ pgid: 10, sid: 10 });
    machine.add(20, 1, { pgid: 10, sid: 3, ...facts });
    expect(await linked(run)).toEqual(joins ? [20] : []);
  });

  test.each<[string, Partial<ProcessFacts>, Partial<ProcessFacts>, Partial<ProcessFacts>, boolean]>([
    ['in a group of a member that leads no session', { pgid: 10, sid: 3 }, {}, { pgid: 10, sid: 4 }, true],
    ['in a session of a member that leads no group', { pgid: 3, sid: 10 }, {}, { pgid: 4, sid: 10 }, true],
    ['in a group of the number of a session', { pgid: 3, sid: 10 }, {}, { pgid: 10, sid: 4 }, false],
    [
      'in such a group that another member is in',
      { pgid: 3, sid: 10 },
      { pgid: 10, sid: 3 },
      { pgid: 10, sid: 4 },
      false,
    ],
    ['that leads a group of its own', { pgid: 10, sid: 10 }, {}, { pgid: 20, sid: 20 }, false],
  ])('%s', async (_, ten, eleven, orphan, joins) => {
    const run = await begin(ten, { pgid: 3, sid: 3, ...eleven });
    machine.add(20, 1, { ...newborn, ...orphan });
    expect(await linked(run)).toEqual(joins ? [20] : []);
  });

  test('with the number of a member that leads neither is nobody’s, and nobody is told of it', async () => {
    const run = await begin({ pgid: 5, sid: 5 });
    machine.add(20, 1, { ...newborn, pgid: 10, sid: 10 });
    expect(await linked(run)).toEqual([]);
    expect(run.warnings).toEqual([]);
  });

  test('is not linked by a group that it has left', async () => {
    const run = await begin({ pgid: 10, sid: 10 });
    machine.add(20, 1, { ...newborn, pgid: 99, sid: 99 });
    expect(await linked(run, { pid: 20, pgid: 10, sid: 10 })).toEqual([]);
  });

  test('is not linked to a group that a member entered only later: it may have been empty in between', async () => {
    const run = await begin({ pgid: 10, sid: 10 }, { pgid: 11, sid: 11 });
    machine.remove(10);
    machine.change(11, { pgid: 10, sid: 10 });
    machine.add(20, 1, { ...newborn, pgid: 10, sid: 10 });
    expect(await linked(run)).toEqual([]);
  });

  test('with the very number of a member that is gone is a stranger', async () => {
    const run = await begin({ pgid: 10, sid: 10 }, { pgid: 10, sid: 10 });
    machine.remove(10);
    machine.add(10, 1, { ...newborn, start: 'new', pgid: 10, sid: 10 });
    expect(await linked(run)).toEqual([]);
  });

  test('below somebody whom the table did not know is not linked', async () => {
    const run = await begin({ pgid: 10, sid: 10 });
    machine.add(20, 77, { ...newborn, pgid: 10, sid: 10 });
    machine.add(21, 1, { ...newborn, ppid: null, pgid: 10, sid: null });
    expect(await linked(run)).toEqual([]);
  });
});
