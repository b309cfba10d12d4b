import { expect, test } from 'vitest';
import { outcomeEntries, planEntries } from '../../../src/act/record/audit-lines.ts';
import { planOf } from '../fake-system.ts';

const root = { pid: 10, start: 's10' };
const child = { pid: 11, start: 's11' };

test('a planned step names its root by pid and start, and its age in whole seconds where it is known', () => {
  const plan = planOf([
    { ...child, ageSeconds: 12.6 },
    { ...root, ageSeconds: null },
  ]);
  expect(planEntries(plan)).toMatchObject({
    steps: [
      { ...child, root, ageSeconds: 13 },
      { ...root, root, ageSeconds: null },
    ],
  });
});

test('an outcome says again what the plan knew of it; of one that joined later nothing more is known', () => {
  const said = { name: 'x', outcome: 'ended', why: 'ended by SIGTERM', freed: 0 } as const;
  expect(
    outcomeEntries(planOf([root]), [
      { ...root, ...said },
      { ...child, ...said },
    ]),
  ).toEqual([
    expect.objectContaining({ ...root, ...said, kind: null, ageSeconds: 5000 }),
    { ...child, ...said },
  ]);
});
