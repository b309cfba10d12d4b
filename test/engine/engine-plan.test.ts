import { expect, test } from 'vitest';
import type { Collector } from '../../src/engine/collector.ts';
import { Engine } from '../../src/engine/engine.ts';
import { Lineage } from '../../src/judge/rules/lineage.ts';
import { DEFAULT_CONFIG } from '../../src/model/config-defaults.ts';
import type { ActRequest, Plan } from '../../src/model/plan.ts';
import type { Snapshot, Verdict } from '../../src/model/snapshot.ts';
import { FakeSystem } from '../act/fake-system.ts';
import { claude } from '../judge/plan/idle-session.ts';
import { HOUSE, invent, snapshotOf } from '../judge/plan/machine.ts';

const machine = (...verdicts: readonly Verdict[]): Snapshot =>
  snapshotOf([...HOUSE, ...verdicts.map((verdict, n) => invent(2000 + n, 1, { verdict }))]);

const planFrom = (request: ActRequest, shown: Snapshot, fresh: Snapshot): Promise<Plan> =>
  new Engine({
    collector: { lineage: new Lineage() } as Collector,
    system: new FakeSystem(),
    config: DEFAULT_CONFIG,
    env: {},
  }).plan(request, { by: 'tui', shown, snapshot: fresh });

const cleaned = async (shown: Snapshot, fresh: Snapshot): Promise<readonly number[]> =>
  (await planFrom({ act: 'clean' }, shown, fresh)).steps.map(step => step.pid);

test('c plans nothing that the screen has not shown as leaked', async () => {
  expect(await cleaned(machine('leak', 'live', 'suspect'), machine('leak', 'leak', 'leak', 'leak'))).toEqual([
    2000,
  ]);
});

test('c plans nothing that is no longer leaked', async () => {
  expect(await cleaned(machine('leak', 'leak'), machine('leak', 'live'))).toEqual([2000]);
});

const planned = (request: ActRequest, fresh: Snapshot): Promise<Plan> => planFrom(request, fresh, fresh);

test.each([
  ['x', false, 'SIGTERM'],
  ['X', true, 'SIGKILL'],
] as const)('%s ends what was chosen, and by its own signal', async (_, force, signal) => {
  const fresh = machine('leak', 'leak');
  const targets = [{ pid: 2001, start: 's2001' }];
  expect((await planned({ act: 'end', targets, force }, fresh)).steps).toMatchObject([{ pid: 2001, signal }]);
});

test.each([
  ['claude', 'sleep'],
  ['gemini', undefined],
  ['opencode', undefined],
] as const)('x on an idle session of %s offers %s', async (agent, otherWay) => {
  const targets = [{ pid: 1000, start: 's1000' }];
  const plan = await planned(
    { act: 'end', targets, force: false },
    snapshotOf([...HOUSE, claude({ agent })]),
  );
  expect(plan.otherWay).toBe(otherWay);
});

test('S sends the signal that was chosen', async () => {
  const targets = [{ pid: 2000, start: 's2000' }];
  const plan = await planned({ act: 'signal', targets, signal: 'SIGUSR1' }, machine('live', 'live'));
  expect(plan.steps).toMatchObject([{ pid: 2000, signal: 'SIGUSR1' }]);
});

test('z nudges whoever owes a wait, ends nobody but servers, and plans against nobody else', async () => {
  const zombie = (pid: number, ppid: number) => invent(pid, ppid, { facts: { state: 'Z' } });
  const fresh = snapshotOf([...HOUSE, invent(2000, 1), zombie(2001, 2000), invent(2020, 1)]);
  expect((await planned({ act: 'zombies' }, fresh)).steps).toMatchObject([{ pid: 2000, signal: 'SIGCHLD' }]);
});
