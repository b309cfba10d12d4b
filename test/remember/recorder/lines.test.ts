import { describe, expect, test } from 'vitest';
import type { Snapshot } from '../../../src/model/snapshot.ts';
import { decodeLines, LineWriter } from '../../../src/remember/recorder/lines.ts';
import { snapshotOf } from '../../../src/remember/recorder/stored-snapshot.ts';
import { momentAt } from './machine.ts';

const MOMENTS = [
  momentAt(0),
  momentAt(10),
  momentAt(20, { extra: [[500, 300, 'lake build']] }),
  momentAt(30, {
    extra: [
      [500, 300, 'lake build'],
      [501, 500, 'lean x.lean'],
    ],
  }),
  momentAt(40),
];

const written = (moments: readonly Snapshot[]): string => {
  const writer = new LineWriter();
  return moments.map(moment => writer.next(moment)).join('');
};

/** What a reader is owed: the moment as it was shown, read-only, without environments. */
const owed = (moment: Snapshot): unknown => ({
  ...moment,
  files: undefined,
  self: null,
  host: { ...moment.host, backend: 'recorded' },
  processes: moment.processes.map(({ doubt: _, servesOne: __, ...p }) => ({
    ...p,
    facts: {
      ...p.facts,
      env: null,
      activity: undefined,
      details: p.facts.details === null ? null : { ...p.facts.details, io: null },
      cpu: p.facts.cpu === null ? null : Number(p.facts.cpu.toFixed(1)),
    },
  })),
});

describe('a segment', () => {
  test('gives back every moment as it was judged: tree, verdicts and why, findings, heartbeats, panes', () => {
    const { frames, skipped } = decodeLines(written(MOMENTS));
    expect(skipped).toBe(0);
    for (const [index, frame] of frames.entries()) {
      const { files: _, ...read } = { files: undefined, ...snapshotOf(frame)! };
      const { files: __, ...expected } = owed(MOMENTS[index]!) as { files: unknown };
      expect(read).toEqual(expected);
    }
    expect(frames).toHaveLength(MOMENTS.length);
  });

  test('after its first line holds only what changed', () => {
    const [full, ...others] = written(MOMENTS).trim().split('\n');
    expect(full!.length).toBeGreaterThan(5000);
    // Ten seconds on, one process has used CPU and grown: nothing else is said.
    expect(JSON.parse(others[0]!).d['~'].processes['~'].items['~']).toEqual({
      '300:30000': { '~': { facts: { '~': { rss: { '=': 400e6 + 40_960 }, cpuSeconds: { '=': 10 } } } } },
    });
    expect(others[0]!.length).toBeLessThan(full!.length / 10);
  });

  test('holds no environment', () => expect(written(MOMENTS)).not.toContain('sécret-session'));

  test('cut off anywhere reads up to the cut', () => {
    const text = written(MOMENTS);
    const ends = [...text.matchAll(/\n/g)].map(match => match.index);
    for (let cut = 0; cut <= text.length; cut += 7) {
      const whole = ends.filter(end => end < cut || end === cut).length;
      const { frames, skipped } = decodeLines(text.slice(0, cut));
      expect(frames.length).toBe(whole);
      expect(skipped).toBeLessThanOrEqual(1);
    }
  });

  test('with a torn line inside is silent until the next full picture, and says how much it left out', () => {
    const [first, second] = [written(MOMENTS.slice(0, 3)), written(MOMENTS.slice(3))];
    const lines = first.split('\n');
    const torn = `${lines[0]}\n${lines[1]!.slice(0, 40)}\n${lines[2]}\n${second}`;
    const { frames, skipped } = decodeLines(torn);
    expect(skipped).toBe(2);
    expect(frames.map(frame => frame.at)).toEqual([0, 3, 4].map(index => MOMENTS[index]!.takenAt));
  });

  test.each([
    '{}',
    'null',
    '[]',
    '"x"',
    '{"v":2,"n":0,"at":1,"clock":1,"full":{}}',
    '{"n":0,"at":1e99}',
    '\0\0\0',
  ])('passes over a line that says %s', line =>
    expect(decodeLines(`${line}\n`)).toEqual({ frames: [], skipped: 1 }),
  );

  test('shows the valid parts of a damaged snapshot and reports the loss', () => {
    const line = JSON.parse(written([momentAt(0)]));
    line.full.processes.items['300:30000'].verdict = 'doomed';
    line.full.processes.items['310:31000'].name = 'evil\u001b[2J';
    const [frame] = decodeLines(`${JSON.stringify(line)}\n`).frames;
    const snapshot = snapshotOf(frame!)!;
    expect(snapshot.processes.map(p => p.facts.pid)).not.toContain(300);
    expect(snapshot.processes.find(p => p.facts.pid === 310)?.name).toBe('evil\\x1b[2J');
    expect(snapshot.warnings.join()).toContain('1 part');
  });
});
