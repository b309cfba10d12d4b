import { describe, expect, test } from 'vitest';
import { confirmedBy, withLeaksSeenTwice } from '../../src/judge/seen-twice.ts';
import type { Finding } from '../../src/model/finding.ts';
import type { Verdict } from '../../src/model/snapshot.ts';
import { invent, machine, snapshotOf } from './plan/machine.ts';

const look = (verdict: Verdict, start = 's10') => machine(invent(10, 1, { verdict, facts: { start } }));
const judged = (snapshot: ReturnType<typeof look>) => snapshot.processes.find(p => p.facts.pid === 10)!;

describe('a verdict that leads to a signal counts only from its second sighting on', () => {
  test.each<[Verdict, Verdict, Verdict]>([
    ['leak', 'leak', 'leak'],
    ['suspect', 'leak', 'suspect'],
    ['live', 'leak', 'unknown'],
    ['unknown', 'leak', 'unknown'],
    ['protected', 'leak', 'unknown'],
    ['suspect', 'suspect', 'suspect'],
    ['leak', 'suspect', 'suspect'],
    ['live', 'suspect', 'unknown'],
    ['unknown', 'suspect', 'unknown'],
    ['leak', 'live', 'live'],
    ['leak', 'protected', 'protected'],
    ['leak', 'unknown', 'unknown'],
  ])('%s, then %s: %s', (before, now, expected) => {
    expect(judged(confirmedBy(look(before), look(now))).verdict).toBe(expected);
  });

  test('what only a second sample could tell does not count against the first', () => {
    const unsampled = machine(
      invent(10, 1, { verdict: 'suspect', doubt: { why: 'may be at work', atWork: true, unsampled: true } }),
    );
    expect(judged(confirmedBy(unsampled, look('leak'))).verdict).toBe('leak');
    expect(judged(confirmedBy(unsampled, look('suspect'))).verdict).toBe('suspect');
    const working = machine(
      invent(10, 1, { verdict: 'suspect', doubt: { why: 'is at work', atWork: true } }),
    );
    expect(judged(confirmedBy(working, look('leak'))).verdict).toBe('suspect');
  });

  test('what was not there before has been seen once', () => {
    const { verdict, why } = judged(confirmedBy(machine(), look('leak')));
    expect(verdict).toBe('unknown');
    expect(why).toEqual(['seen as leak only once: because of 10']);
  });

  test.each<Verdict>(['live', 'protected', 'unknown'])(
    'what leads to no signal counts at once: %s',
    verdict => {
      expect(judged(confirmedBy(machine(), look(verdict)))).toEqual(judged(look(verdict)));
    },
  );

  test('the same pid with another start was not there before', () => {
    expect(judged(confirmedBy(look('leak', 'earlier'), look('leak'))).verdict).toBe('unknown');
  });

  test('what is confirmed keeps its reasons', () => {
    expect(judged(confirmedBy(look('leak'), look('leak'))).why).toEqual(['because of 10']);
  });
});

describe('on a screen that goes on looking', () => {
  const finding = (id: 'leak' | 'zombie', ...pids: number[]): Finding => ({
    id,
    severity: 'warn',
    title: id,
    why: id,
    processes: pids.map(pid => ({ pid, start: `s${pid}` })),
    files: [],
    remedy: 'none',
    action: null,
  });
  const moment = (verdict: Verdict, ...findings: Finding[]) =>
    snapshotOf([invent(10, 1, { verdict }), invent(11, 1, { verdict: 'leak' })], { findings });
  const ids = (earlier: ReturnType<typeof moment> | null, now: ReturnType<typeof moment>) =>
    withLeaksSeenTwice(earlier, now).findings.map(f => f.id);

  test('a leak is a finding from its second sighting on, other findings at once', () => {
    const now = moment('leak', finding('leak', 10), finding('zombie', 10));
    expect(ids(null, now)).toEqual(['zombie']);
    expect(ids(moment('suspect'), now)).toEqual(['zombie']);
    expect(ids(moment('leak'), now)).toEqual(['leak', 'zombie']);
  });

  test('it counts only what was seen before, and says so', () => {
    const now = moment('leak', finding('leak', 10, 11));
    const [only] = withLeaksSeenTwice(moment('live'), now).findings;
    expect(only?.processes.map(p => p.pid)).toEqual([11]);
    expect(only?.title).toMatch(/^leaked: .* \(11\), /);
    expect(withLeaksSeenTwice(moment('leak'), now)).toBe(now);
  });
});
