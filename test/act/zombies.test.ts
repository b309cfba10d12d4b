import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../src/act/clock.ts';
import { endZombies } from '../../src/act/zombies/nudge.ts';
import { planZombies } from '../../src/judge/plan/index.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { System } from '../../src/observe/system.ts';
import { childrenOf, isRunning, type RawProcess, rawProcess } from '../support/proc.ts';
import { Sandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';
import { FakeSystem, planOf } from './fake-system.ts';
import { bystanders, everythingLeaked, hurt, kinds, program, realSystem, startOrphan } from './stage.ts';

const zombiesBelow = (pid: number): RawProcess[] => childrenOf(pid).filter(p => p.state === 'Z');

/** The plan that judging would lead to if the parent were a server. */
const planAsServer = async (system: System, parent: RawProcess): Promise<Plan> => {
  const snapshot = await everythingLeaked(system);
  const processes = snapshot.processes.map(p =>
    p.facts.pid === parent.pid ? { ...p, kind: 'lean-lsp' as const } : p,
  );
  return planZombies({
    snapshot: { ...snapshot, processes },
    by: 'clean',
    targets: [parent],
    minimumAgeSeconds: 0,
    quietSeconds: 0.2,
    lineageMembers: () => [],
  });
};

describe('real zombies', () => {
  let sandbox: Sandbox;
  beforeEach(() => {
    sandbox = new Sandbox();
  });
  afterEach(() => sandbox.close());
  const system = realSystem();

  test('a parent that reaps on SIGCHLD is nudged and lives', async () => {
    const [go, ready] = [sandbox.path('go'), sandbox.path('ready')];
    const parent = await startOrphan(sandbox, ['perl', program('reaps-on-chld.pl'), go, ready]);
    await until('three zombies', () => zombiesBelow(parent.pid).length === 3);
    sandbox.write('go', '');
    await until('the handler', () => existsSync(ready));
    const people = bystanders(sandbox);
    const plan = await planAsServer(system, parent);
    expect(plan.steps.map(s => s.signal)).toEqual(['SIGCHLD', 'SIGTERM']);
    const result = await endZombies({ system, plan, quietSeconds: 0.2 });
    expect(kinds(result.outcomes)).toEqual({ ended: 3 });
    expect(result.outcomes[0]?.why).toBe('reaped by its parent after SIGCHLD');
    expect(zombiesBelow(parent.pid)).toEqual([]);
    expect(isRunning(parent.pid, parent.start)).toBe(true);
    expect(hurt(people)).toEqual([]);
  });

  test('a server that never reaps is ended after the nudge, and its zombies go with it', async () => {
    const parent = await startOrphan(sandbox, [program('unreaping-parent.sh')]);
    await until(
      'three zombies',
      () => zombiesBelow(parent.pid).length === 3 && rawProcess(parent.pid)?.comm === 'sleep',
    );
    const people = bystanders(sandbox, ['sleep', '600']);
    const result = await endZombies({ system, plan: await planAsServer(system, parent), quietSeconds: 0.2 });
    expect(kinds(result.outcomes)).toEqual({ ended: 4 });
    expect(result.durationMs).toBeGreaterThan(2000);
    expect(isRunning(parent.pid, parent.start)).toBe(false);
    expect(hurt(people)).toEqual([]);
  });

  test('anything else that never reaps is nudged and kept, its zombies reported as held', async () => {
    const parent = await startOrphan(sandbox, [program('unreaping-parent.sh')]);
    await until('three zombies', () => zombiesBelow(parent.pid).length === 3);
    const plan = planZombies({
      snapshot: await everythingLeaked(system),
      by: 'clean',
      targets: [parent],
      minimumAgeSeconds: 0,
      quietSeconds: 0.2,
      lineageMembers: () => [],
    });
    expect(plan.steps.map(s => s.signal)).toEqual(['SIGCHLD']);
    const result = await endZombies({ system, plan, quietSeconds: 0.2 });
    expect(kinds(result.outcomes)).toEqual({ zombie: 3 });
    expect(result.outcomes[0]?.why).toContain(`sleep (${parent.pid}) has not reaped it`);
    expect(isRunning(parent.pid, parent.start)).toBe(true);
  });
});

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

  test('cancelled during the quiet time: it stays', async () => {
    const { machine, plan } = setUp();
    const cancel = new AbortController();
    const clock = during(machine, 9000, () => cancel.abort());
    await endZombies({ system: machine, plan, clock, quietSeconds: 10, signal: cancel.signal });
    expect(machine.sent).toEqual(['10 SIGCHLD']);
  });
});
