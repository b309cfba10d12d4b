import { describe, expect, test } from 'vitest';
import { Pauses } from '../../src/guard/guard.ts';

/** Looks every ten seconds; each row is [seconds that we ran, seconds since boot]. */
const told = (...looks: readonly (readonly [monotonic: number, uptime: number])[]) => {
  const pauses = new Pauses(10);
  const slept = looks.map(([monotonic, uptime]) => pauses.note({ monotonic, uptime }));
  const [monotonic, uptime] = looks.at(-1)!;
  return { slept: slept.at(-1), why: pauses.why({ monotonic, uptime }), pauses };
};

describe('guard does nothing', () => {
  test.each([
    ['right after the boot', [[0, 5]], 'the machine started 5 s ago'],
    ['two minutes after the boot less one second', [[0, 119]], 'the machine started 119 s ago'],
    [
      'after a sleep that the clock of the machine slept through',
      [
        [0, 1000],
        [10, 4610],
      ],
      'the machine woke up 0 s ago',
    ],
    [
      'after a sleep that both clocks ran through',
      [
        [0, 1000],
        [3600, 4600],
      ],
      'the machine woke up 0 s ago',
    ],
  ] as const)('%s', (_, looks, why) => {
    expect(told(...looks).why).toBe(why);
  });
});

describe('guard goes on', () => {
  test.each([
    ['two minutes after the boot', [[0, 120]]],
    [
      'look after look',
      [
        [0, 1000],
        [10, 1010],
        [20, 1020],
      ],
    ],
    [
      'after a look that came late on a loaded machine',
      [
        [0, 1000],
        [29, 1029],
      ],
    ],
  ] as const)('%s', (_, looks) => {
    expect(told(...looks)).toMatchObject({ slept: false, why: null });
  });

  test('two minutes after it woke up, and not before', () => {
    const { pauses, slept } = told([0, 1000], [10, 4610]);
    expect(slept).toBe(true);
    expect(pauses.why({ monotonic: 129, uptime: 4729 })).toBe('the machine woke up 119 s ago');
    expect(pauses.why({ monotonic: 130, uptime: 4730 })).toBeNull();
  });
});
