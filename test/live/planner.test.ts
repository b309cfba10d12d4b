import { expect, test } from 'vitest';
import { Lineage } from '../../src/judge/rules/lineage.ts';
import { planRequest } from '../../src/live/planner.ts';
import { DEFAULT_CONFIG } from '../../src/model/config.ts';
import type { Snapshot, Verdict } from '../../src/model/snapshot.ts';
import { HOUSE, invent, snapshotOf } from '../judge/plan/machine.ts';

const machine = (...verdicts: readonly Verdict[]): Snapshot =>
  snapshotOf([...HOUSE, ...verdicts.map((verdict, n) => invent(2000 + n, 1, { verdict }))]);

const cleaned = (shown: Snapshot, fresh: Snapshot): readonly number[] =>
  planRequest({
    request: { act: 'clean' },
    shown,
    fresh,
    lineage: new Lineage(),
    config: DEFAULT_CONFIG,
  }).steps.map(step => step.pid);

test('c plans nothing that the screen has not shown as leaked', () => {
  expect(cleaned(machine('leak', 'live', 'suspect'), machine('leak', 'leak', 'leak', 'leak'))).toEqual([
    2000,
  ]);
});

test('c plans nothing that is no longer leaked', () => {
  expect(cleaned(machine('leak', 'leak'), machine('leak', 'live'))).toEqual([2000]);
});

const planned = (request: Parameters<typeof planRequest>[0]['request'], fresh: Snapshot) =>
  planRequest({ request, shown: fresh, fresh, lineage: new Lineage(), config: DEFAULT_CONFIG });

test.each([
  ['x', false, 'SIGTERM'],
  ['X', true, 'SIGKILL'],
] as const)('%s ends what was chosen, and by its own signal', (_, force, signal) => {
  const fresh = machine('leak', 'leak');
  const targets = [{ pid: 2001, start: 's2001' }];
  expect(planned({ act: 'end', targets, force }, fresh).steps).toMatchObject([{ pid: 2001, signal }]);
});

test('S sends the signal that was chosen', () => {
  const targets = [{ pid: 2000, start: 's2000' }];
  const plan = planned({ act: 'signal', targets, signal: 'SIGUSR1' }, machine('live', 'live'));
  expect(plan.steps).toMatchObject([{ pid: 2000, signal: 'SIGUSR1' }]);
});

test('z nudges whoever owes a wait, ends nobody but servers, and plans against nobody else', () => {
  const zombie = (pid: number, ppid: number) => invent(pid, ppid, { facts: { state: 'Z' } });
  const fresh = snapshotOf([...HOUSE, invent(2000, 1), zombie(2001, 2000), invent(2020, 1)]);
  expect(planned({ act: 'zombies' }, fresh).steps).toMatchObject([{ pid: 2000, signal: 'SIGCHLD' }]);
});
