import { describe, expect, it } from 'vitest';
import { leakPolicy, sweepPolicy } from '../../../src/judge/plan/compose.ts';
import { planBuilds, planDuplicates, planFix, whyNotFixedAgain } from '../../../src/judge/plan/fix.ts';
import { memberReason } from '../../../src/judge/plan/refuse.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import type { Finding, FindingAction } from '../../../src/model/finding.ts';
import { keyOf } from '../../../src/model/identity.ts';
import { EMPTY_PLAN, type OtherStep, type Plan } from '../../../src/model/plan.ts';
import { identityOf, type JudgedProcess } from '../../../src/model/snapshot.ts';
import { planOf } from '../../act/fake-system.ts';
import { HOUSE, id, invent, noLineage, PIPED, snapshotOf } from './machine.ts';

const finding = (action: FindingAction, ...processes: readonly JudgedProcess[]): Finding => ({
  id: 'idle-agent',
  severity: 'warn',
  title: 'something',
  why: '',
  processes: processes.map(identityOf),
  files: [],
  remedy: 'look at it',
  action,
});
const fix = (one: Finding, ...processes: readonly JudgedProcess[]): Plan =>
  planFix({
    snapshot: snapshotOf([...HOUSE, ...processes], { findings: [one] }),
    lineageMembers: noLineage,
    finding: one,
    config: DEFAULT_CONFIG,
  });
const agent = invent(1200, 800, { kind: 'agent', verdict: 'live', job: 'job1' });
const other = invent(1300, 800, { kind: 'agent', verdict: 'live' });

describe('what mends a finding', () => {
  it('end: the first process alone, whatever else it names', () => {
    expect(fix(finding('end', agent, other), agent, other).steps.map(step => step.pid)).toEqual([1200]);
  });

  it('clean: the topmost of its leaks, with nothing refused of what is gone, has ended or is no leak', () => {
    const leak = invent(1400, 1);
    const child = invent(1401, 1400);
    const zombie = invent(1402, 1, { facts: { state: 'Z' } });
    const live = invent(1403, 1, { verdict: 'live' });
    const gone = invent(1404, 1);
    const plan = fix(finding('clean', child, leak, zombie, live, gone), leak, child, zombie, live);
    expect(plan.steps.map(step => [step.pid, step.root.pid])).toEqual([
      [1401, 1400],
      [1400, 1400],
    ]);
    expect(plan.refused).toEqual([]);
  });

  it('stop-session: nothing when the agent is gone, or has no job; both are called by their names', () => {
    expect(fix(finding('stop-session', agent)).refused).toEqual([
      { ...id(1200), name: '?', why: 'its job is no longer known' },
    ]);
    expect(fix(finding('stop-session', other), other)).toMatchObject({ refused: [{ name: 'p1300' }] });
  });
});

describe('a plan that was read a while ago', () => {
  const snapshot = snapshotOf([...HOUSE, agent, other]);
  const plan = planOf([id(1200)]);
  const refusal = (pid: number, why: string) => ({ ...id(pid), name: 'x', why });
  const why = (fresh: Partial<Plan>, action: FindingAction = 'end', read: Plan = plan) =>
    whyNotFixedAgain(read, { ...EMPTY_PLAN, ...fresh }, action, snapshot);

  it('is judged step by step where its policy does that', () => {
    expect([why({}, 'clean'), why({}, 'zombies')]).toEqual([[], []]);
    expect(why({})).toHaveLength(1);
  });

  it('says why its own step may not be signalled; else the first reason, else that it is over', () => {
    const refused = [refusal(1300, 'another reason'), refusal(1200, 'it works again')];
    const says = (told: string) => [`p1200 (1200) may no longer be signalled: ${told}`];
    expect(why({ refused })).toEqual(says('it works again'));
    expect(why({ refused: refused.slice(0, 1) })).toEqual(says('another reason'));
    expect(why({})).toEqual(says('it is already resolved'));
  });

  it('minds no step that would be planned again, has ended or is gone', () => {
    expect(why({ steps: plan.steps })).toEqual([]);
    const zombie = invent(1200, 800, { facts: { state: 'Z' } });
    for (const processes of [[zombie], []])
      expect(whyNotFixedAgain(plan, EMPTY_PLAN, 'end', snapshotOf(processes))).toEqual([]);
  });

  it('is held against its chores by what they do and to whom', () => {
    const chore: OtherStep = { act: 'claude-stop', target: 'job1', why: 'x' };
    const read = { ...EMPTY_PLAN, otherSteps: [chore] };
    const says = (told: string) => [`job1: ${told}`];
    const stop = (fresh: Partial<Plan>) => why(fresh, 'stop-session', read);
    expect(stop({ otherSteps: [{ ...chore, target: 'job2' }, chore] })).toEqual([]);
    expect(stop({ otherSteps: [{ ...chore, target: 'job2' }] })).toEqual(says('it is already resolved'));
    expect(stop({ otherSteps: [{ ...chore, act: 'end-session' }] })).toEqual(says('it is already resolved'));
    expect(stop({ otherSteps: [] })).toEqual(says('it is already resolved'));
    expect(stop({ refused: [refusal(1200, 'it has no job')] })).toEqual(says('it has no job'));
  });
});

describe('a member that is somebody’s place of work stays', () => {
  it.each<[Partial<JudgedProcess>, NonNullable<JudgedProcess['seen']['anchor']> | null, boolean]>([
    [{ kind: 'browser' }, 'desktop-app', false],
    [{ kind: 'browser' }, 'editor', true],
    [{ kind: 'other' }, 'desktop-app', true],
    [{ kind: 'other' }, null, false],
  ])('%j with the anchor %s: %s', (part, anchor, stays) => {
    expect(memberReason(invent(10, 1, { ...part, seen: { anchor } }), leakPolicy('clean')) !== null).toBe(
      stays,
    );
  });

  it('a sweep ends nothing that a person would have to confirm', () => {
    expect(sweepPolicy()).toMatchObject({ allowSoft: false, verdicts: ['leak', 'suspect', 'live'] });
  });
});

describe('siblings', () => {
  const one = (pid: number, kind: 'mcp' | 'lake', born: number | null, argv: string): JudgedProcess =>
    invent(pid, 1200, {
      kind,
      verdict: 'live',
      seen: { role: kind === 'lake' ? 'lake-build' : null },
      facts: { details: PIPED, argv: [argv], born },
    });
  const request = (processes: readonly JudgedProcess[], about?: readonly number[]) => ({
    snapshot: snapshotOf([...HOUSE, agent, ...processes]),
    lineageMembers: noLineage,
    policy: { ...leakPolicy('tui'), verdicts: ['live'] as const },
    ...(about && { about: new Set(about.map(pid => keyOf(id(pid)))) }),
  });

  it('are selected by any member of their group; other groups stay', () => {
    const servers = [
      one(1301, 'mcp', 1301, 'a'),
      one(1302, 'mcp', 1302, 'a'),
      one(1311, 'mcp', 1311, 'b'),
      one(1312, 'mcp', 1312, 'b'),
    ];
    const ended = (about?: readonly number[]) =>
      planDuplicates(request(servers, about)).steps.map(s => s.pid);
    expect(ended()).toEqual([1301, 1311]);
    expect(ended([1302])).toEqual([1301]);
    expect(ended([])).toEqual([]);
  });

  it('are all named when the oldest is unknown', () => {
    const builds = [one(1401, 'lake', null, 'lake'), one(1402, 'lake', 1402, 'lake')];
    const plan = planBuilds(request(builds));
    expect(plan.steps).toEqual([]);
    expect(plan.refused.map(({ pid }) => pid).sort()).toEqual([1401, 1402]);
  });
});
