import { describe, expect, test } from 'vitest';
import { Pressed, whyShort } from '../../src/guard/pressure.ts';
import type { PressureFacts } from '../../src/model/health.ts';
import type { AgentSession, JudgedProcess } from '../../src/model/snapshot.ts';
import { claude, IDLE, MIB } from '../judge/plan/idle-session.ts';
import { id, machine } from '../judge/plan/machine.ts';

const GIB = 1024 ** 3;
const PLENTY: PressureFacts = {
  memTotal: 16 * GIB,
  memAvailable: 8 * GIB,
  swapTotal: 0,
  swapUsed: 0,
  waited: 0,
  level: null,
};
const SHORT: PressureFacts = { ...PLENTY, memAvailable: GIB };

test.each<[Partial<PressureFacts>, boolean]>([
  [{}, false],
  [{ waited: 10 }, true],
  [{ waited: 9.9 }, false],
  [{ memAvailable: 1.6 * GIB }, false],
  [{ memAvailable: 1.5 * GIB }, true],
  [{ waited: null }, false],
  [{ level: 'normal' }, false],
  [{ level: 'warn' }, true],
  [{ level: 'critical', memAvailable: null }, true],
  [{ memAvailable: null }, false],
  [{ memTotal: null, memAvailable: GIB }, false],
])('memory with %j is short: %s', (part, short) => {
  expect(whyShort({ ...PLENTY, ...part }) !== null).toBe(short);
});

const session = (
  pid: number,
  seconds: number,
  mib: number,
  part: Partial<AgentSession> = {},
): JudgedProcess =>
  claude({
    session: { ...IDLE, id: `${IDLE.id}-${pid}`, seconds, ...part },
    facts: { pid, start: `s${pid}`, rss: mib * MIB },
  });

describe('while memory is short', () => {
  const NONE: ReadonlySet<string> = new Set();

  test('the longest idle and largest session is warned first, and is due a minute later', () => {
    const pressed = new Pressed();
    const sessions = machine(session(1000, 7200, 300), session(1001, 3600, 900), session(1002, 90_000, 2));
    expect(pressed.note(sessions, SHORT, NONE, 0)).toMatch(/6 % of memory is available\): claude \(1001\)/);
    expect(pressed.note(sessions, SHORT, NONE, 30)).toBeNull();
    expect(pressed.due(60, 59)).toBeNull();
    expect(pressed.due(60, 60)).toEqual(id(1001));
  });

  test('puts no session to sleep once the pressure is over', () => {
    const pressed = new Pressed();
    pressed.note(machine(session(1000, 7200, 300)), SHORT, NONE, 0);
    expect(pressed.note(machine(session(1000, 7200, 300)), PLENTY, NONE, 50)).toBeNull();
    expect(pressed.due(60, 100)).toBeNull();
  });

  test('another is warned when the first begins to work, and its minute begins anew', () => {
    const pressed = new Pressed();
    pressed.note(machine(session(1000, 7200, 300), session(1001, 3600, 100)), SHORT, NONE, 0);
    const busy = session(1000, 0, 300, { doing: 'busy' });
    expect(pressed.note(machine(busy, session(1001, 3600, 100)), SHORT, NONE, 40)).toContain('claude (1001)');
    expect(pressed.due(60, 70)).toBeNull();
    expect(pressed.due(60, 100)).toEqual(id(1001));
  });

  test.each<[string, JudgedProcess]>([
    ['was used a moment ago', session(1000, 599, 300)],
    ['works', session(1000, 7200, 300, { doing: 'busy' })],
    ['waits for its user', session(1000, 7200, 300, { doing: 'waiting' })],
    ['has a subagent', session(1000, 7200, 300, { unfinished: 'a subagent' })],
    ['is not known to be at its prompt', session(1000, 7200, 300, { unfinished: undefined })],
    ['is of a family that is never put to sleep', { ...session(1000, 7200, 300), agent: 'gemini' }],
  ])('a session that %s is not chosen', (_, p) => {
    const pressed = new Pressed();
    expect(pressed.note(machine(p), SHORT, NONE, 0)).toBeNull();
    expect(pressed.due(0, 100)).toBeNull();
  });

  test('one that did not end a while ago is not tried again', () => {
    const resting = new Set(['1000:s1000']);
    expect(new Pressed().note(machine(session(1000, 7200, 300)), SHORT, resting, 0)).toBeNull();
  });
});
