import { expect, test } from 'vitest';
import type { Outcome, OutcomeKind } from '../../src/model/plan.ts';
import { summarise } from '../../src/model/plan-text.ts';

const outcome = (kind: OutcomeKind, freed = 0): Outcome => ({
  pid: 10,
  start: '1',
  name: 'x',
  outcome: kind,
  why: 'because',
  freed,
});

test('counts what happened and the bytes that came back', () => {
  const outcomes = [
    ...Array.from({ length: 7 }, () => outcome('ended', 0)),
    outcome('killed', 3.1 * 1024 ** 3),
  ];
  expect(summarise(outcomes)).toBe('7 ended, 1 killed, 3.1 GiB freed');
  expect(summarise([outcome('survived'), outcome('zombie'), outcome('denied')])).toBe(
    '1 zombie, 1 survived, 1 denied',
  );
  expect(summarise([])).toBe('nothing to do');
});
