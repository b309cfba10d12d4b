import { expect, test } from 'vitest';
import { leftSomething } from '../../src/act/execute.ts';
import type { Outcome, OutcomeKind } from '../../src/model/plan.ts';

const outcome = (kind: OutcomeKind, freed = 0): Outcome => ({
  pid: 10,
  start: '1',
  name: 'x',
  outcome: kind,
  why: 'because',
  freed,
});

test('exit code 4 is for what survived or was denied', () => {
  expect(leftSomething([outcome('ended'), outcome('survived')])).toBe(true);
  expect(leftSomething([outcome('survived')]) && leftSomething([outcome('denied')])).toBe(true);
  expect(
    leftSomething(
      (['ended', 'killed', 'gone', 'zombie', 'respawned', 'refused'] as const).map(k => outcome(k)),
    ),
  ).toBe(false);
});
