import { describe, expect, test } from 'vitest';
import { runningSessions, type SessionFacts, sessionEvents } from '../../src/judge/remembered.ts';
import type { RememberedSession, WayBack } from '../../src/model/asleep.ts';
import { claude, ID, MIB, server } from './plan/idle-session.ts';
import { machine } from './plan/machine.ts';

const NOW = 1_700_000_000_000;
const [WAY] = runningSessions(machine(claude(), server())) as [WayBack];
const AGAIN: WayBack = { ...WAY, pid: 2000, start: 's2000' };
const seen = (
  state: RememberedSession['state'],
  part: Partial<RememberedSession> = {},
): RememberedSession => ({
  ...WAY,
  state,
  at: NOW - 3_600_000,
  ...part,
});

const FACTS: SessionFacts = {
  running: [],
  boot: WAY.boot,
  now: NOW,
  isPresent: () => false,
  leftRecord: () => false,
  ranLast: () => false,
  oomKilled: false,
};
const events = (remembered: readonly RememberedSession[], facts: Partial<SessionFacts> = {}) =>
  sessionEvents(remembered, { ...FACTS, ...facts }).map(event =>
    event.state === 'lost' ? `lost: ${event.why}` : `${event.state}${'pid' in event ? ` ${event.pid}` : ''}`,
  );

test('a running session is remembered with its way back, once', () => {
  expect(WAY).toMatchObject({ id: ID, bytes: 380 * MIB, resume: expect.stringContaining(ID) });
  expect(events([], { running: [WAY] })).toEqual(['running 1000']);
  expect(events([seen('running')], { running: [WAY] })).toEqual([]);
});

describe('a session that runs no longer', () => {
  test('ended as its user wanted, by all that is known', () => {
    expect(events([seen('running')])).toEqual(['gone']);
  });

  test('is lost when its agent left its own record behind', () => {
    expect(events([seen('running')], { leftRecord: () => true })).toEqual([
      'lost: it was killed, or crashed',
    ]);
  });

  test('is lost when the kernel killed something for memory meanwhile', () => {
    expect(events([seen('running')], { oomKilled: true })).toEqual([
      expect.stringContaining('memory ran out'),
    ]);
  });

  test('is lost after a restart of the machine if it ran until then', () => {
    const restarted = { boot: 'another', isPresent: () => true };
    expect(events([seen('running', { boot: 'one' })], { ...restarted, ranLast: () => true })).toEqual([
      'lost: the machine was restarted',
    ]);
    expect(events([seen('running', { boot: 'one' })], { ...restarted, leftRecord: () => true })).toEqual([
      'lost: the machine was restarted',
    ]);
    expect(events([seen('running', { boot: 'one' })], restarted)).toEqual(['gone']);
  });

  test('is remembered as running while its process is there, or that cannot be told', () => {
    expect(events([seen('running')], { isPresent: () => true, leftRecord: () => true })).toEqual([]);
    expect(events([seen('running')], { isPresent: () => null, leftRecord: () => true })).toEqual([]);
  });

  test('was left for another by /clear', () => {
    const other = { ...WAY, id: `${ID}-2` };
    expect(events([seen('running')], { running: [other], isPresent: () => true })).toEqual([
      'gone',
      'running 1000',
    ]);
  });
});

describe('a session that sleeps or is lost', () => {
  test('stays so while it does not run', () => {
    expect(events([seen('asleep'), seen('lost', { id: `${ID}-2` })], { leftRecord: () => true })).toEqual([]);
  });

  test('leaves the list when somebody resumed it', () => {
    expect(events([seen('asleep')], { running: [AGAIN] })).toEqual(['running 2000']);
    expect(events([seen('lost')], { running: [AGAIN] })).toEqual(['running 2000']);
  });

  test('is asleep already while it is still ending, but not for long', () => {
    expect(events([seen('asleep', { at: NOW - 1000 })], { running: [WAY] })).toEqual([]);
    expect(events([seen('asleep', { at: NOW - 61_000 })], { running: [WAY] })).toEqual(['running 1000']);
  });
});
