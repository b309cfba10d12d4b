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
