import { describe, expect, test } from 'vitest';
import { agentsInDoubt, whyHold } from '../../src/guard/hold.ts';
import { keyOf } from '../../src/model/identity.ts';
import type { JudgedProcess, Owner, Snapshot } from '../../src/model/snapshot.ts';
import { HOUSE, invent, snapshotOf } from '../judge/plan/machine.ts';

const AGENT = { pid: 2000, start: 's2000' };
const owner: Owner = { ...AGENT, sessionId: null, how: 'ancestor', alive: true };
const agent = (recognised: boolean): JudgedProcess =>
  invent(2000, 800, { kind: recognised ? 'agent' : 'other', isSession: recognised, verdict: 'live' });

const servers = (count: number, verdict: 'live' | 'leak'): JudgedProcess[] =>
  Array.from({ length: count }, (_, n) =>
    invent(3000 + n, verdict === 'live' ? 2000 : 1, { verdict, owner }),
  );

const look = (...processes: readonly JudgedProcess[]): Snapshot => snapshotOf([...HOUSE, ...processes]);
const RUNS = new Set([keyOf(AGENT)]);
const NOBODY = new Set<string>();

/** Another agent, so that "none is recognised" is not what is tested. */
const other = invent(2500, 800, { kind: 'agent', isSession: true, verdict: 'live' });

describe('guard holds', () => {
  test('when ten processes turn from live to leaked while their agent runs', () => {
    const before = look(agent(true), other, ...servers(10, 'live'));
    const now = look(other, ...servers(10, 'leak'));
    expect(whyHold(before, now, RUNS)).toContain('10 processes turned from live to leaked');
    expect(agentsInDoubt(before, now)).toEqual([AGENT]);
  });

  test.each([
    ['when nine do', 9, RUNS],
    ['when the agent is gone: that is a crash', 10, NOBODY],
  ])('not %s', (_, count, running) => {
    const before = look(agent(true), other, ...servers(count, 'live'));
    expect(whyHold(before, look(other, ...servers(count, 'leak')), running)).toBeNull();
  });

  test('not for leaks that were leaks before', () => {
    const before = look(agent(true), other, ...servers(12, 'leak'));
    expect(whyHold(before, look(other, ...servers(12, 'leak')), RUNS)).toBeNull();
  });

  test('when agents fall to none while one of them still runs', () => {
    expect(whyHold(look(agent(true)), look(agent(false)), RUNS)).toContain('no agent is recognised any more');
    expect(whyHold(look(agent(true)), look(), NOBODY)).toBeNull();
    expect(whyHold(look(agent(true), other), look(agent(false), other), RUNS)).toBeNull();
    expect(whyHold(look(), look(), RUNS)).toBeNull();
  });
});
