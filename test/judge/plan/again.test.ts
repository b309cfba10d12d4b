import { describe, expect, test } from 'vitest';
import { planClean } from '../../../src/judge/plan/clean.ts';
import { handPolicy, leakPolicy } from '../../../src/judge/plan/compose.ts';
import { planEnd, planSignal } from '../../../src/judge/plan/end.ts';
import { recheckPlan } from '../../../src/judge/plan/recheck.ts';
import type { Plan } from '../../../src/model/plan.ts';
import type { JudgedProcess, Snapshot } from '../../../src/model/snapshot.ts';
import { id, invent, machine, noLineage } from './machine.ts';

const clean = (snapshot: Snapshot, lineageMembers: (key: string) => readonly string[] = noLineage): Plan =>
  planClean({ snapshot, lineageMembers, policy: leakPolicy('clean') });

/** Which pids are dropped, with the reason after "judged again". */
const dropped = (plan: Plan, now: Snapshot): Record<number, string> =>
  Object.fromEntries(
    [...recheckPlan(plan, now).dropped].map(([key, why]) => [
      Number(key.split(':')[0]),
      why.replace('judged again before the first signal: ', ''),
    ]),
  );

const live = (p: JudgedProcess): JudgedProcess => ({
  ...p,
  verdict: 'live',
  why: ['its session is there again'],
});

describe('a plan for leaks, judged again before its first signal', () => {
  const server = invent(100, 1, { kind: 'mcp' });
  const below = invent(101, 100, { kind: 'other' });
  const other = invent(200, 1, { kind: 'mcp' });

  test('is carried out as it is when nothing changed', () => {
    const now = machine(server, below, other);
    expect(recheckPlan(clean(now), now)).toEqual({ dropped: new Map(), worse: [] });
  });

  test.each([
    ['live', 'it is live: so it is'],
    ['suspect', 'it is only suspected: so it is'],
    ['unknown', 'its verdict is unknown: so it is'],
    ['protected', 'it is protected'],
  ] as const)('drops a root that is %s now with all that is below it, and only that root', (verdict, why) => {
    const plan = clean(machine(server, below, other));
    const now = machine({ ...server, verdict, why: ['so it is'] }, below, other);
    expect(dropped(plan, now)).toEqual({ 100: why, 101: why });
  });

  test('drops a whole tree in which one process is live now', () => {
    const plan = clean(machine(server, below, other));
    const why =
      'the whole subtree stays, because p101 (101) is in it: it is live: its session is there again';
    expect(dropped(plan, machine(server, live(below), other))).toEqual({ 100: why, 101: why });
  });

  test('drops a tree in which something live was started meanwhile', () => {
    const plan = clean(machine(server, below));
    const now = machine(server, below, live(invent(102, 100, { kind: 'agent' })));
    expect(Object.keys(dropped(plan, now))).toEqual(['100', '101']);
  });

  test('judges what lost its root by itself: still a leak goes on, anything else stays', () => {
    const plan = clean(machine(server, below));
    const orphan = (verdict: JudgedProcess['verdict']) => ({ ...invent(101, 1), verdict });
    expect(dropped(plan, machine(orphan('leak')))).toEqual({});
    expect(Object.keys(dropped(plan, machine(orphan('unknown'))))).toEqual(['101']);
    expect(Object.keys(dropped(plan, machine(orphan('live'))))).toEqual(['101']);
  });

  test('a member that only waits to be reaped, or a pid with another process, is no reason for anything', () => {
    const plan = clean(machine(server, below));
    const reused = invent(101, 1, { verdict: 'live', facts: { start: 'another' } });
    expect(dropped(plan, machine(server, reused))).toEqual({});
    const zombie = invent(101, 100, { verdict: 'live', facts: { state: 'Z' } });
    expect(dropped(plan, machine(server, zombie))).toEqual({});
  });

  test('what was reparented goes with its root, unless it is live now or the root is', () => {
    const stray = invent(300, 1, { kind: 'other', verdict: 'unknown' });
    const plan = clean(machine(server, stray), key => (key === '100:s100' ? ['300:s300'] : []));
    expect(plan.steps.map(step => step.pid)).toEqual([100, 300]);
    expect(dropped(plan, machine(server, stray))).toEqual({});
    expect(Object.keys(dropped(plan, machine(server, live(stray))))).toEqual(['300']);
    expect(Object.keys(dropped(plan, machine(live(server), stray)))).toEqual(['100', '300']);
  });

  test('its age is not asked again: a wrapper that was old enough may have left a younger child', () => {
    const policy = leakPolicy('clean', { minimumAgeSeconds: 60 });
    const plan = planClean({ snapshot: machine(server, below), lineageMembers: noLineage, policy });
    const young = { ...invent(101, 1), ageSeconds: 5 };
    expect(dropped(plan, machine(young))).toEqual({});
  });

  test('suspects that were asked for go on as suspects, not as live', () => {
    const suspect = { ...server, verdict: 'suspect' as const };
    const policy = leakPolicy('clean', { suspects: true });
    const plan = planClean({ snapshot: machine(suspect), lineageMembers: noLineage, policy });
    expect(dropped(plan, machine(suspect))).toEqual({});
    expect(Object.keys(dropped(plan, machine(live(server))))).toEqual(['100']);
  });

  test('drops everything when the table is no ground for any plan', () => {
    const plan = clean(machine(server));
    const blind = { ...machine(server), self: null };
    expect(dropped(plan, blind)[100]).toContain('recorded table');
  });

  test('a plan without a policy is left to those who made it', () => {
    const { policy: _, ...plan } = clean(machine(server));
    expect(recheckPlan(plan, machine(live(server)))).toEqual({ dropped: new Map(), worse: [] });
  });
});

describe('a plan that a person read, judged again', () => {
  const end = (p: JudgedProcess): Plan =>
    planEnd({ snapshot: machine(p), lineageMembers: noLineage, targets: [id(100)], policy: handPolicy() });
  const at = (verdict: JudgedProcess['verdict']): JudgedProcess =>
    invent(100, 1, { verdict, why: [`it is ${verdict}`] });
  const ORDER = ['leak', 'suspect', 'unknown', 'live'] as const;

  test.each(ORDER.flatMap((was, i) => ORDER.map((now, j) => [was, now, j > i] as const)))(
    '%s when it was planned, %s now: shown again = %s',
    (was, now, again) => {
      const { worse, dropped } = recheckPlan(end(at(was)), machine(at(now)));
      expect(worse).toEqual(again ? [`p100 (100) was ${was} and is ${now} now: it is ${now}`] : []);
      expect(dropped.size).toBe(0);
    },
  );

  test('is shown again when something in it is protected now and its pid was not asked for', () => {
    const soft = invent(100, 1, { protection: 'soft', protectedBecause: 'an editor hosts it' });
    expect(recheckPlan(end(at('leak')), machine(soft)).worse).toEqual([
      'p100 (100) is protected now: an editor hosts it',
    ]);
    expect(recheckPlan(end(soft), machine(soft)).worse).toEqual([]);
  });

  test('what a plan does not tell of its subject is not held against it', () => {
    const plan = end(at('leak'));
    const untold = { ...plan, steps: plan.steps.map(step => ({ ...step, subject: undefined })) };
    expect(recheckPlan(untold, machine(at('live'))).worse).toEqual([]);
  });

  test('what has ended meanwhile makes nothing worse', () => {
    expect(recheckPlan(end(at('leak')), machine()).worse).toEqual([]);
  });

  test('a chosen signal is held against it as well', () => {
    const plan = planSignal({ snapshot: machine(at('leak')), targets: [id(100)], signal: 'SIGKILL' });
    expect(recheckPlan(plan, machine(at('live'))).worse).toHaveLength(1);
  });
});
