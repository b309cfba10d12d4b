import { expect, test } from 'vitest';
import { cleanableLeaks } from '../../../src/judge/plan/clean.ts';
import type { JudgedProcess } from '../../../src/model/snapshot.ts';
import { invent } from './machine.ts';

const MINUTES_10 = 600;
const NOTHING = { count: 0, bytes: 0 };
/** A leak of this age, with one process below it. */
const tree = (ageSeconds: number | null, below: Parameters<typeof invent>[2] = {}): JudgedProcess[] => [
  invent(100, 1, { ageSeconds, facts: { rss: 1000 } }),
  invent(101, 100, { ...below, facts: { rss: 10, ...below.facts } }),
];

test.each<[string, readonly JudgedProcess[], object, object]>([
  ['nothing', [], NOTHING, NOTHING],
  ['one that is old enough', tree(MINUTES_10), { count: 2, bytes: 1010 }, NOTHING],
  ['one that is not yet', tree(MINUTES_10 - 1), NOTHING, { count: 2, bytes: 1010 }],
  ['one of unknown age', tree(null), NOTHING, { count: 2, bytes: 1010 }],
  ['one with a zombie', tree(MINUTES_10, { facts: { state: 'Z' } }), { count: 1, bytes: 1000 }, NOTHING],
  ['one with something live in it', tree(MINUTES_10, { verdict: 'live' }), NOTHING, NOTHING],
  ['one with a suspect in it', tree(MINUTES_10, { verdict: 'suspect' }), NOTHING, NOTHING],
  ['one with hard protection in it', tree(MINUTES_10, { protection: 'hard' }), NOTHING, NOTHING],
  ['one with soft protection in it', tree(MINUTES_10, { protection: 'soft' }), NOTHING, NOTHING],
  ['what is no leak', [invent(100, 1, { verdict: 'suspect' })], NOTHING, NOTHING],
  [
    'one of each',
    [...tree(MINUTES_10), invent(200, 1, { ageSeconds: 5, facts: { rss: 7 } })],
    { count: 2, bytes: 1010 },
    { count: 1, bytes: 7 },
  ],
])('of %s', (_, processes, now, later) => {
  expect(cleanableLeaks(processes, MINUTES_10)).toEqual({ now, later });
});

test('is never old enough when its age is unknown, even with threshold 0', () => {
  expect(cleanableLeaks(tree(null), 0)).toEqual({ now: NOTHING, later: { count: 2, bytes: 1010 } });
  expect(cleanableLeaks(tree(0), 0).now.count).toBe(2);
});
