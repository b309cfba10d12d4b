import { describe, expect, it, test } from 'vitest';
import { ASK_AGAIN_MS, type MemoryPressure, pressureOn } from '../../../src/hooks/decide/pressure.ts';

const LIMIT = 2_000_000 * 1024;
const FACTS: MemoryPressure = {
  now: 1_000_000_000,
  memory: 500 * 1024 ** 2,
  limitBytes: LIMIT,
  turns: 10,
  turnsLimit: null,
  askedAt: { memory: null, turns: null },
};

describe('a session is asked to come to an end', () => {
  test.each<[string, boolean, Partial<MemoryPressure>]>([
    ['below both limits', false, {}],
    ['one byte below', false, { memory: LIMIT - 1 }],
    ['at the limit', true, { memory: LIMIT }],
    ['memory unknown', false, { memory: null }],
    ['asked a minute ago', false, { memory: LIMIT, askedAt: { memory: FACTS.now - 60_000, turns: null } }],
    [
      'asked five minutes ago',
      true,
      { memory: LIMIT, askedAt: { memory: FACTS.now - ASK_AGAIN_MS, turns: null } },
    ],
    [
      'asked in the future, by a clock that was set back',
      true,
      { memory: LIMIT, askedAt: { memory: FACTS.now + 1e9, turns: null } },
    ],
    ['turns without a limit', false, { turns: 5000 }],
    ['at the limit of turns', false, { turns: 50, turnsLimit: 50 }],
    ['over the limit of turns', true, { turns: 51, turnsLimit: 50 }],
    [
      'over it, and asked just now',
      false,
      { turns: 60, turnsLimit: 50, askedAt: { memory: null, turns: FACTS.now } },
    ],
    [
      'asked for turns, now for memory',
      true,
      { memory: LIMIT, turns: 60, turnsLimit: 50, askedAt: { memory: null, turns: FACTS.now } },
    ],
  ])('%s: %s', (_, asked, facts) => {
    expect(pressureOn({ ...FACTS, ...facts }).say !== null).toBe(asked);
  });

  it('with what it is over, and what to do', () => {
    expect(pressureOn({ ...FACTS, memory: LIMIT, turns: 51, turnsLimit: 50 })).toEqual({
      say: expect.stringMatching(
        /uses 1\.9 GiB, over its limit of 1\.9 GiB, and this is turn 51.*Save your progress/,
      ),
      askedAt: { memory: FACTS.now, turns: FACTS.now },
    });
  });

  it('remembers nothing when nothing is said', () =>
    expect(pressureOn(FACTS)).toEqual({ say: null, askedAt: FACTS.askedAt }));
});
