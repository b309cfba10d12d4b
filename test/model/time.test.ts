import { describe, expect, it } from 'vitest';
import { lastTimeOfDay, parseDate, parseElapsed, parseIso, parseSpokenAge } from '../../src/model/time.ts';

const NOON = Date.UTC(2026, 1, 6, 12, 0);

describe('a date in full', () => {
  it.each([
    ['2026-02-06T12:00:00Z', NOON],
    ['2026-02-06T12:00:00.250Z', NOON + 250],
    ['2026-02-06 13:00:00+01:00', NOON],
    ['20260206T120000Z', NOON],
    ['20260206T12Z', NOON],
    ['Fri Feb  6 12:00:00 2026 UTC', NOON],
    ['Fri 6 Feb 12:00:00 2026 UTC', NOON],
    // A board without a clock is still a machine with processes.
    ['Thu Jan  1 00:00:07 1970 UTC', 7000],
    ['Fri Feb  6 12:00:00 2026', new Date(2026, 1, 6, 12).getTime()],
    ['2026-02-06', new Date(2026, 1, 6).getTime()],
  ])('%s', (text, at) => expect(parseDate(text)).toBe(at));

  it.each([
    '2026-02-31T00:00:00Z',
    '20260206',
    'Fri Foo 6 12:00:00 2026',
    'Fri Feb 31 12:00:00 2026 UTC',
    '2026-02-06T25:00Z',
    'undefined',
    '',
  ])('%s is none', text => expect(parseDate(text)).toBeNull());

  it('reads ISO alone where nothing else is allowed', () =>
    expect(parseIso('Fri Feb  6 12:00:00 2026')).toBeNull());
});

describe('how long', () => {
  it.each([
    ['2h30m', 9000],
    ['4d 01h', 349_200],
    ['~5.5 h', 19_800],
    ['6 min', 360],
    ['soon', null],
    ['5 meters', null],
  ])('%s', (text, seconds) => expect(parseSpokenAge(text)).toBe(seconds));

  it.each([
    ['90', 90],
    ['01:30', 90],
    ['2-01:00:00', 176_400],
    ['0:00.21', 0.21],
    ['1:2:3:4', null],
  ])('%s as ps prints it', (text, seconds) => expect(parseElapsed(text)).toBe(seconds));
});

it('a time of day is its last occurrence', () => {
  const now = new Date(2026, 1, 6, 12, 0).getTime();
  expect(lastTimeOfDay([11, 59], now)).toBe(now - 60_000);
  expect(lastTimeOfDay([12, 1], now)).toBe(new Date(2026, 1, 5, 12, 1).getTime());
  expect(lastTimeOfDay([24, 0], now)).toBeNull();
});
