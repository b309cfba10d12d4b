import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Recorder } from '../../../src/remember/recorder/recorder.ts';
import { Recording } from '../../../src/remember/recorder/recording.ts';
import { beginOf, endOf, isIn, segmentFiles } from '../../../src/remember/recorder/segments.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { momentAt, NOON } from './machine.ts';

const HOUR = 3600;
/** Seconds after noon; the fourth hour has none. */
const MOMENTS = [0, 10, HOUR - 1, HOUR, HOUR + 30, 2 * HOUR + 5, 4 * HOUR];

let sandbox: Sandbox;
let state: string;
let recording: Recording;
let recorder: Recorder;
beforeEach(async () => {
  sandbox = new Sandbox();
  state = sandbox.path('state');
  recorder = new Recorder({ directory: state, monotonic: () => 0 });
  for (const second of MOMENTS) await recorder.record(momentAt(second));
  recording = new Recording(state);
});
afterEach(() => sandbox.close());

const at = (seconds: number): number => NOON + seconds * 1000;
const secondOf = (frame: { readonly at: number } | null): number | null =>
  frame === null ? null : (frame.at - NOON) / 1000;

describe('a moment is found', () => {
  test.each([
    [-1, null, 0],
    [0, null, 10],
    [0.5, 0, 10],
    [10, 0, HOUR - 1],
    [HOUR - 1, 10, HOUR],
    [HOUR, HOUR - 1, HOUR + 30],
    [2 * HOUR, HOUR + 30, 2 * HOUR + 5],
    [3 * HOUR, 2 * HOUR + 5, 4 * HOUR],
    [4 * HOUR, 2 * HOUR + 5, null],
    [9 * HOUR, 4 * HOUR, null],
  ])('from %d s: the one before is %s, the one after %s', (seconds, before, after) => {
    expect(secondOf(recording.before(at(seconds)))).toBe(before);
    expect(secondOf(recording.after(at(seconds)))).toBe(after);
  });

  test.each([
    [-100, 0],
    [4, 0],
    [5, 0],
    [6, 10],
    [10, 10],
    [HOUR - 0.4, HOUR],
    [HOUR - 0.6, HOUR - 1],
    [9 * HOUR, 4 * HOUR],
  ])('nearest to %d s: %d', (seconds, nearest) => {
    expect(secondOf(recording.nearest(at(seconds)))).toBe(nearest);
  });

  test.each([
    [0, 10, [0, 10]],
    [1, HOUR, [10, HOUR - 1, HOUR]],
    [HOUR, HOUR, [HOUR]],
    [HOUR + 31, 2 * HOUR + 4, []],
    [-100, 9 * HOUR, MOMENTS],
  ])('between %d s and %d s: %j', (from, to, wanted) => {
    expect([...recording.between(at(from), at(to))].map(secondOf)).toEqual(wanted);
    const seen = recording.through(at(from), at(to), frame => ({ at: frame.at }));
    expect([...seen].map(secondOf)).toEqual(wanted);
  });

  test('but not one that is passed over', () => {
    const seen = recording.through(at(0), at(HOUR), frame => (frame.at === at(10) ? null : { at: frame.at }));
    expect([...seen].map(secondOf)).toEqual([0, HOUR - 1, HOUR]);
  });

  test('also one that was written since the hour was read', async () => {
    expect(recording.after(at(4 * HOUR))).toBeNull();
    await recorder.record(momentAt(4 * HOUR + 10));
    expect(secondOf(recording.after(at(4 * HOUR)))).toBe(4 * HOUR + 10);
    // Each hour is read anew only when it grew.
    expect(recording.before(at(10))).toBe(recording.before(at(10)));
  });
});

test('it begins with its oldest hour, and an empty one has none', () => {
  expect(recording.begin()).toBe(NOON);
  const empty = new Recording(sandbox.path('nothing'));
  expect([empty.begin(), empty.nearest(NOON), empty.marks(), empty.warnings()]).toEqual([null, null, [], []]);
});

test('what cannot be read is said in one sentence each', () => {
  const folder = join(state, 'recorder');
  writeFileSync(join(folder, '20261116T12Z.jsonl.gz'), 'not gzip', { mode: 0o600 });
  writeFileSync(join(folder, '20261116T20Z.jsonl'), 'nonsense\n{}\n', { mode: 0o600 });
  const fresh = new Recording(state);
  expect([...fresh.between(0, 8e15)].length).toBeGreaterThan(0);
  expect(fresh.warnings()).toEqual([
    '2 lines of the recording could not be read: torn or wrong.',
    '1 segment of the recording could not be read.',
  ]);
});

test('segments are sorted by hour, what was compressed first, and other names are none', () => {
  const folder = sandbox.path('segments');
  mkdirSync(folder);
  for (const name of [
    '20261116T13Z.jsonl',
    '20261116T12Z.jsonl',
    '20261116T12Z.jsonl.gz',
    '20261116T99Z.jsonl',
    'x20261116T12Z.jsonl',
    '20261116T12Z.jsonl.gz.new',
    'marks.jsonl',
  ])
    writeFileSync(join(folder, name), '');
  expect(segmentFiles(folder)).toEqual([
    { hour: '20261116T12Z', path: join(folder, '20261116T12Z.jsonl.gz'), packed: true },
    { hour: '20261116T12Z', path: join(folder, '20261116T12Z.jsonl'), packed: false },
    { hour: '20261116T13Z', path: join(folder, '20261116T13Z.jsonl'), packed: false },
  ]);
});

test('an hour holds its first millisecond and not the first of the next', () => {
  const [begin, end] = [beginOf('20261116T12Z'), endOf('20261116T12Z')];
  expect([begin, end - begin]).toEqual([NOON, HOUR * 1000]);
  expect([begin - 1, begin, end - 1, end].map(moment => isIn('20261116T12Z', moment))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});
