import { expect, test } from 'vitest';
import { TreeHistories } from '../../src/engine/history.ts';
import { keyOf } from '../../src/model/identity.ts';
import { memoryOf } from '../../src/model/process.ts';
import type { Snapshot } from '../../src/model/snapshot.ts';
import { standingDemo } from '../tui/drive.ts';

const demo = await standingDemo({ looks: 2 });
const snapshot = demo.live.getState().snapshot;
const agentOf = ({ processes }: Snapshot) => processes.find(p => p.facts.pid === 5230)!;
const key = keyOf(agentOf(snapshot).facts);

test('an agent and all below it, summed up as it was then: what has ended is still in its past', () => {
  const courses = new TreeHistories();
  courses.record(snapshot);
  const after = {
    ...snapshot,
    takenAt: snapshot.takenAt + 10_000,
    processes: snapshot.processes.filter(p => p.facts.ppid !== 5230),
  };
  courses.record(after);
  const [then, now] = courses.of(key);
  expect(then!.bytes).toBeGreaterThan(now!.bytes);
  expect(now!.bytes).toBe(memoryOf(agentOf(after).facts));
  expect(now!.at - then!.at).toBe(10_000);
  expect(then!.cpu).not.toBeNull();
});

test('a whole day fits: points are halved, the first and the last moment stay', () => {
  const courses = new TreeHistories();
  for (let i = 0; i < 5000; i += 1) courses.record({ ...snapshot, takenAt: snapshot.takenAt + i * 2000 });
  const points = courses.of(key);
  expect(points.length).toBeLessThanOrEqual(240);
  expect(points.length).toBeGreaterThan(100);
  expect(points.at(-1)!.at - points[0]!.at).toBeGreaterThan(0.95 * 5000 * 2000);
});

test('an agent that has ended is forgotten', () => {
  const courses = new TreeHistories();
  courses.record(snapshot);
  courses.record({ ...snapshot, processes: snapshot.processes.filter(p => p.kind !== 'agent') });
  expect(courses.of(key)).toEqual([]);
});

const looked = (n: number, bytes: number, cpu: number | null): Snapshot => ({
  ...snapshot,
  takenAt: n * 1000,
  processes: [
    { ...agentOf(snapshot), facts: { ...agentOf(snapshot).facts, rss: bytes, cpu, details: null } },
  ],
});
const courseOf = (looks: readonly Snapshot[]) => {
  const courses = new TreeHistories();
  for (const look of looks) courses.record(look);
  return courses.of(key);
};

test('two points become one: their mean, at the later time; CPU that is not known of one is that of the other', () => {
  const cpus = [null, 4, 6, null, 1, 3, null, null];
  const points = courseOf(
    Array.from({ length: 240 }, (_, n) => looked(n, n * 100, n < cpus.length ? cpus[n]! : 0)),
  );
  expect(points).toHaveLength(120);
  expect(points.slice(0, 4)).toEqual([
    { at: 1000, bytes: 50, cpu: 4 },
    { at: 3000, bytes: 250, cpu: 6 },
    { at: 5000, bytes: 450, cpu: 2 },
    { at: 7000, bytes: 650, cpu: null },
  ]);
});

test('from then on every second look is a point', () => {
  const points = courseOf(Array.from({ length: 244 }, (_, n) => looked(n, 1, 0)));
  expect(points.slice(-3).map(({ at }) => at)).toEqual([239_000, 241_000, 243_000]);
});
