import { describe, expect, test } from 'vitest';
import { momentAsked, parseMoment } from '../../../src/model/time.ts';

/** Noon on the clock on the wall, wherever this runs. */
const NOW = new Date(2026, 10, 16, 12, 0, 0).getTime();
const at = (...parts: [number, number, number, number, number, number?]): number =>
  new Date(...parts).getTime();

describe('--at', () => {
  test.each([
    ['03:10', at(2026, 10, 16, 3, 10)],
    ['3:10', at(2026, 10, 16, 3, 10)],
    ['11:59:59', at(2026, 10, 16, 11, 59, 59)],
    // What is yet to come today was yesterday.
    ['23:30', at(2026, 10, 15, 23, 30)],
    ['-2h', NOW - 7_200_000],
    ['-90m', NOW - 5_400_000],
    ['-1h30m', NOW - 5_400_000],
    ['-45s', NOW - 45_000],
    ['-1.5d', NOW - 129_600_000],
    ['2026-11-15', at(2026, 10, 15, 0, 0)],
    ['2026-11-15 03:10', at(2026, 10, 15, 3, 10)],
    ['2026-11-15T03:10:20', at(2026, 10, 15, 3, 10, 20)],
    ['2026-11-15T03:10:20Z', Date.UTC(2026, 10, 15, 3, 10, 20)],
    ['2026-11-15T03:10+02:00', Date.UTC(2026, 10, 15, 1, 10)],
  ])('%s is a moment', (text, moment) => expect(parseMoment(text, NOW)).toEqual({ at: moment }));

  test.each(['boot', 'oom'] as const)('%s is a mark', mark =>
    expect(parseMoment(mark, NOW)).toEqual({ mark }),
  );

  test.each([
    '',
    '2h',
    '-2x',
    '-',
    '25:00',
    '12:60',
    'noon',
    '2026-13-01',
    '16.11.2026',
    '-2h\n',
    '-999999999999999d',
    '1e3',
  ])('%j is none', text => expect(parseMoment(text, NOW)).toBeNull());

  const marks = [
    { at: 5, mark: 'oom', text: '' },
    { at: 9, mark: 'oom', text: '' },
    { at: 3, mark: 'boot', text: '' },
  ] as const;

  test('oom is the last one that was recorded', () => expect(momentAsked({ mark: 'oom' }, marks, 1)).toBe(9));
  test('oom is nothing when none was', () => expect(momentAsked({ mark: 'oom' }, [], 1)).toBeNull());
  test('boot is the last one that was recorded', () =>
    expect(momentAsked({ mark: 'boot' }, marks, 1)).toBe(3));
  test('boot is when this machine started when none was', () =>
    expect(momentAsked({ mark: 'boot' }, [], 1)).toBe(1));
});
