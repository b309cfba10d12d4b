import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { Recorder } from '../../../src/remember/recorder/recorder.ts';
import { openMoment, Recording } from '../../../src/remember/recorder/recording.ts';
import { hourOf } from '../../../src/remember/recorder/segments.ts';
import { snapshotOf } from '../../../src/remember/recorder/stored-snapshot.ts';
import { Sandbox } from '../../support/sandbox.ts';
import { momentAt, NOON } from './machine.ts';

const HOUR = 3600;

let sandbox: Sandbox;
let state: string;
let folder: string;
/** A monotonic clock that runs with the recorded moments, unless a test turns it. */
let monotonic: number;

beforeEach(() => {
  sandbox = new Sandbox();
  state = sandbox.path('state');
  folder = join(state, 'recorder');
  monotonic = 0;
});
afterEach(() => sandbox.close());

const recorderOf = (bounds: { keepBytes?: number; plainBytes?: number } = {}): Recorder =>
  new Recorder({ directory: state, monotonic: () => monotonic, ...bounds });

const recordAt = async (recorder: Recorder, ...seconds: number[]): Promise<(string | null)[]> => {
  const said: (string | null)[] = [];
  for (const second of seconds) {
    monotonic = second * 1000;
    said.push(await recorder.record(momentAt(second)));
  }
  return said;
};

/** Whoever goes through them without keeping any sees the same ones. */
const momentsIn = (recording = new Recording(state)): number[] => {
  const found = [...recording.between(0, 8e15)].map(frame => frame.at);
  expect([...recording.through(0, 8e15, ({ at }) => ({ at }))].map(({ at }) => at)).toEqual(found);
  return found.map(at => (at - NOON) / 1000);
};

describe('the recorder', () => {
  test('keeps one segment per hour, for this user alone, and compresses it when the hour is over', async () => {
    const said = await recordAt(recorderOf(), 0, 10, HOUR, HOUR + 10, 2 * HOUR);
    expect(said).toEqual([null, null, null, null, null]);
    expect(readdirSync(folder).sort()).toEqual([
      '20261116T12Z.jsonl.gz',
      '20261116T13Z.jsonl.gz',
      '20261116T14Z.jsonl',
    ]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(momentsIn()).toEqual([0, 10, HOUR, HOUR + 10, 2 * HOUR]);
  });

  test('begins with a full picture in a segment that another writer left, torn or not', async () => {
    await recordAt(recorderOf(), 0, 10);
    const segment = join(folder, '20261116T12Z.jsonl');
    truncateSync(segment, statSync(segment).size - 5);
    await recordAt(recorderOf(), 20, 30);
    expect(momentsIn()).toEqual([0, 20, 30]);
    expect(
      readFileSync(segment, 'utf8')
        .split('\n')
        .filter(line => line.includes('"full"')),
    ).toHaveLength(2);
  });

  test('begins again when somebody shortened or removed the segment under it', async () => {
    const recorder = recorderOf();
    await recordAt(recorder, 0, 10);
    truncateSync(join(folder, '20261116T12Z.jsonl'), 100);
    await recordAt(recorder, 20);
    rmSync(join(folder, '20261116T12Z.jsonl'));
    await recordAt(recorder, 30, 40);
    expect(momentsIn()).toEqual([30, 40]);
  });

  test('follows a clock that is set back into an hour already compressed, and forth again', async () => {
    const recorder = recorderOf();
    await recordAt(recorder, 0, 10, HOUR, HOUR + 10);
    await recordAt(recorder, 20, 30, HOUR + 20);
    expect(momentsIn()).toEqual([0, 10, 20, 30, HOUR, HOUR + 10, HOUR + 20]);
  });

  test('keeps to its bytes, oldest first out', async () => {
    const recorder = recorderOf({ keepBytes: 8000 });
    for (let hour = 0; hour < 8; hour += 1) await recordAt(recorder, hour * HOUR, hour * HOUR + 700);
    const kept = momentsIn();
    expect(kept.at(-1)).toBe(7 * HOUR + 700);
    expect(kept[0]).toBeGreaterThan(HOUR);
    const total = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    expect(total).toBeLessThan(8000 + 12_000);
  });

  test('keeps seven days', async () => {
    const recorder = recorderOf();
    const day = 24 * HOUR;
    for (const at of [0, day, 7 * day + HOUR, 7 * day + HOUR + 10, 7 * day + HOUR + 700])
      await recordAt(recorder, at);
    expect(momentsIn()[0]).toBe(day);
  });

  test('deletes nothing on the word of a clock that has just jumped', async () => {
    const recorder = recorderOf();
    await recordAt(recorder, 0, 700);
    const year = 365 * 24 * HOUR;
    monotonic = 710_000;
    await recorder.record(momentAt(year));
    monotonic = 1_310_000;
    await recorder.record(momentAt(1310));
    expect(momentsIn()).toEqual([0, 700, 1310, year]);
  });

  test('deletes no hour because the clock jumped 30 days ahead, before it has run evenly for ten minutes', async () => {
    const recorder = recorderOf();
    await recordAt(recorder, 0);
    const later = 30 * 24 * HOUR;
    // Each of these is due to delete what is old.
    for (const [seconds, kept] of [
      [601, [0, later + 601]],
      [1202, [later + 601, later + 1202]],
    ] as const) {
      monotonic = seconds * 1000;
      await recorder.record(momentAt(later + seconds));
      expect(momentsIn()).toEqual(kept);
    }
  });

  test('compresses an hour early that grows long', async () => {
    await recordAt(recorderOf({ plainBytes: 6000 }), 0, 10, 20, 30, 40);
    expect(readdirSync(folder)).toContain('20261116T12Z.jsonl.gz');
    expect(momentsIn()).toEqual([0, 10, 20, 30, 40]);
  });

  test('reads an hour up to the point where it was cut off, compressed or not', async () => {
    await recordAt(recorderOf(), 0, 10, 20, HOUR);
    const packed = join(folder, '20261116T12Z.jsonl.gz');
    const bytes = readFileSync(packed);
    let most = 0;
    for (let cut = bytes.length; cut >= 0; cut -= 97) {
      writeFileSync(packed, bytes.subarray(0, cut));
      const read = momentsIn().filter(at => at < HOUR);
      expect([0, 10, 20].slice(0, read.length)).toEqual(read);
      most = Math.max(most, read.length);
    }
    expect(most).toBe(3);
  });

  test('says in one sentence what keeps it from writing, and goes on when that is over', async () => {
    const recorder = recorderOf();
    mkdirSync(state, { mode: 0o700 });
    writeFileSync(folder, 'a file in its place');
    expect((await recordAt(recorder, 0))[0]).toMatch(
      /^the flight recorder .*recorder could not be written: \S/,
    );
    rmSync(folder);
    expect(await recordAt(recorder, 10)).toEqual([null]);
    expect(momentsIn()).toEqual([10]);
  });

  test('follows no symbolic link', async () => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(sandbox.path('elsewhere'), '');
    symlinkSync(sandbox.path('elsewhere'), join(folder, '20261116T12Z.jsonl'));
    expect((await recordAt(recorderOf(), 0))[0]).toContain('it is a symbolic link');
    expect(readFileSync(sandbox.path('elsewhere'), 'utf8')).toBe('');
  });
});

describe('a recording', () => {
  const atSecond = (snapshot: Snapshot | null | undefined): number =>
    ((snapshot?.takenAt ?? 0) - NOON) / 1000;
  const open = (second: number) =>
    openMoment(new Recording(state), { at: NOON + second * 1000 }, { bootedAt: 0 });

  test('opens the nearest picture without a word when it is of that moment', async () => {
    await recordAt(recorderOf(), 0, 10, 20);
    const opened = open(13);
    expect(opened.ok && [atSecond(opened.snapshot), opened.note]).toEqual([10, null]);
  });

  test.each([
    ['before its first picture', -500, 0, 'The recording begins after'],
    ['in a gap', 300, 10, 'Nothing was recorded at'],
    ['after its last picture', 5000, 900, 'The recording ends before'],
  ])('%s says so and shows the nearest one, with its time', async (_, asked, shown, words) => {
    await recordAt(recorderOf(), 0, 10, 900);
    const opened = open(asked);
    if (!opened.ok) throw new Error(opened.message);
    expect(atSecond(opened.snapshot)).toBe(shown);
    expect(opened.note).toContain(words);
    expect(opened.snapshot.warnings[0]).toBe(opened.note);
  });

  test('says how to start recording when there is none', () => {
    const opened = open(0);
    expect(opened.ok || opened.message).toContain('reaptop guard');
  });

  test('steps to and fro over the turn of an hour, and sees what is written meanwhile', async () => {
    const recorder = recorderOf();
    await recordAt(recorder, HOUR - 10, HOUR);
    const recording = new Recording(state);
    expect(recording.before(NOON + HOUR * 1000)?.at).toBe(NOON + (HOUR - 10) * 1000);
    expect(recording.after(NOON + HOUR * 1000)).toBeNull();
    await recordAt(recorder, HOUR + 10);
    expect(recording.after(NOON + HOUR * 1000)?.at).toBe(NOON + (HOUR + 10) * 1000);
  });

  test('with a strange segment says so once and shows the rest', async () => {
    await recordAt(recorderOf(), 0, 10);
    writeFileSync(join(folder, '20261116T11Z.jsonl.gz'), 'no gzip');
    appendFileSync(join(folder, '20261116T12Z.jsonl'), '{"n":7}\nnonsense\n');
    const recording = new Recording(state);
    expect(momentsIn(recording)).toEqual([0, 10]);
    expect(recording.warnings()).toEqual([
      '2 lines of the recording could not be read: torn or wrong.',
      '1 segment of the recording could not be read.',
    ]);
  });

  test('is empty when it cannot be read', async () => {
    await recordAt(recorderOf(), 0);
    chmodSync(folder, 0);
    const read = process.geteuid?.() === 0 ? [0] : [];
    expect(momentsIn()).toEqual(read);
    chmodSync(folder, 0o700);
  });

  test('reads a picture of an hour named by its UTC time', () => expect(hourOf(NOON)).toBe('20261116T12Z'));

  test('can give no ground for a plan: it is nobody’s machine', async () => {
    await recordAt(recorderOf(), 0);
    const frame = new Recording(state).nearest(NOON);
    expect(snapshotOf(frame!)).toMatchObject({ self: null, host: { backend: 'recorded' } });
  });
});
