import { describe, expect, test } from 'vitest';
import { History, TreeHistories } from '../../../src/engine/history.ts';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import { keyOf } from '../../../src/model/identity.ts';
import type { JudgedProcess } from '../../../src/model/snapshot.ts';
import { growthText, memoryText, plotLines } from '../../../src/tui/detail/memory.ts';
import type { Row } from '../../../src/tui/tree/row-order.ts';
import { id, invent, snapshotOf } from '../../judge/plan/machine.ts';
import { screenOf } from '../screen.ts';

const MIB = 1024 ** 2;
const LIMIT = DEFAULT_CONFIG.thresholds['over-memory'].limitBytes;

/** The machine at each second; the screen that watched it, sampling every `every` seconds. */
const watched = (seconds: number, every: number, at: (second: number) => readonly JudgedProcess[]) => {
  const history = new History();
  const trees = new TreeHistories();
  for (let second = 0; second <= seconds; second += every) {
    const snapshot = snapshotOf(at(second), { takenAt: second * 1000 });
    history.record(snapshot);
    trees.record(snapshot);
  }
  return screenOf({ history: key => history.memory(key), treeHistory: key => trees.of(key) });
};

const sized = (pid: number, ppid: number, mib: number) =>
  invent(pid, ppid, { facts: { rss: mib * MIB, cpu: 1 } });

const plotOf = (screen: ReturnType<typeof watched>, count: number): readonly string[] =>
  plotLines(screen, { process: sized(20, 1, 0), count } as Row, 80).map(runs =>
    runs.map(({ text }) => text).join(''),
  );

describe('a tree whose members appeared in different refreshes', () => {
  // npm exec at 1 s, sh at 3 s, node at 7 s: none of them grows.
  const screen = watched(120, 1, second => [
    invent(1, 0),
    ...(second >= 1 ? [sized(20, 1, 85)] : []),
    ...(second >= 3 ? [sized(21, 20, 15)] : []),
    ...(second >= 7 ? [sized(22, 21, 500)] : []),
  ]);
  const bytes = screen.treeHistory(keyOf(id(20))).map(point => point.bytes / MIB);

  test('has one series: up when a member comes, constant from then on', () => {
    expect(bytes.at(-1)).toBe(600);
    expect(bytes).toEqual(bytes.toSorted((a, b) => a - b));
    expect(bytes.filter(mib => mib === 600).length).toBeGreaterThan(bytes.length * 0.8);
  });

  test('is drawn as one rise and no fall', () => {
    const [top] = plotOf(screen, 3);
    expect(top).toMatch(/^ *660M│ +▅+$/);
  });

  test('gets no forecast', () => {
    expect(growthText(screen, sized(20, 1, 85)).text).toBe('steady');
  });
});

test('what has ended is still in the past of its tree, what never had a child has its own series', () => {
  const screen = watched(60, 5, second => [
    invent(1, 0),
    sized(20, 1, 100),
    ...(second < 30 ? [sized(21, 20, 300)] : []),
    sized(30, 1, 7),
  ]);
  expect(screen.treeHistory(keyOf(id(20))).map(point => point.bytes / MIB)).toEqual([
    ...Array.from({ length: 6 }, () => 400),
    ...Array.from({ length: 7 }, () => 100),
  ]);
  expect(screen.treeHistory(keyOf(id(30)))).toEqual([]);
  expect(screen.history(keyOf(id(30)))).toHaveLength(13);
});

describe('the forecast', () => {
  /** 20 for ten minutes, as large as `mib` says. */
  const forecast = (seconds: number, mib: (second: number) => number): string =>
    growthText(
      watched(seconds, 5, second => [sized(20, 1, mib(second))]),
      sized(20, 1, 0),
    ).text;

  test('names the limit, of a rise that lasts', () => {
    expect(forecast(600, second => 100 + second / 2)).toMatch(
      /^growing by 1\.8 GiB an hour; reaches the limit of 1\.9 GiB in \d+m$/,
    );
    expect(forecast(600, second => LIMIT / MIB + second)).toBe(
      'growing by 3.5 GiB an hour; above the limit of 1.9 GiB',
    );
  });

  test.each([
    ['the ramp of a start', 60, (second: number) => Math.min(500, 20 * second)],
    ['the same, minutes later', 360, (second: number) => Math.min(500, 20 * second) + (second % 10) / 10],
    ['a step', 600, (second: number) => (second < 300 ? 100 : 400)],
    ['a late step', 600, (second: number) => (second < 410 ? 100 : 400)],
    ['a spike', 600, (second: number) => (second > 500 && second < 560 ? 900 : 100)],
    ['a minute of rising', 90, (second: number) => 100 + second],
  ])('is silent about %s', (_, seconds, mib) => {
    expect(forecast(seconds, mib)).toBe('steady');
  });

  test('says that it shrinks only where it does so all the time', () => {
    expect(forecast(600, second => 900 - second / 2)).toBe('shrinking by 1.8 GiB an hour');
    expect(forecast(600, second => (second < 300 ? 400 : 100))).toBe('steady');
  });
});

test.each([
  ['procfs', '5.0 MiB RSS, 3.0 MiB PSS (its fair share)'],
  ['darwin', '5.0 MiB RSS, 3.0 MiB footprint'],
] as const)('what a process holds for itself is named as its system names it: %s', (backend, text) => {
  const { host, ...rest } = snapshotOf([]);
  const snapshot = { ...rest, host: { ...host, backend } };
  expect(memoryText(sized(20, 1, 5), { pss: 3 * MIB, snapshot })).toBe(text);
});
