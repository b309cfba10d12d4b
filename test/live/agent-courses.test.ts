import { expect, test } from 'vitest';
import { AgentCourses } from '../../src/live/agent-courses.ts';
import { keyOf } from '../../src/model/identity.ts';
import { memoryOf } from '../../src/model/process.ts';
import type { Snapshot } from '../../src/model/snapshot.ts';
import { standingDemo } from '../tui/drive.ts';

const demo = await standingDemo({ looks: 2 });
const snapshot = demo.live.getState().snapshot;
const agentOf = ({ processes }: Snapshot) => processes.find(p => p.facts.pid === 5230)!;
const key = keyOf(agentOf(snapshot).facts);

test('an agent and all below it, summed up as it was then: what has ended is still in its past', () => {
  const courses = new AgentCourses();
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
  const courses = new AgentCourses();
  for (let i = 0; i < 5000; i += 1) courses.record({ ...snapshot, takenAt: snapshot.takenAt + i * 2000 });
  const points = courses.of(key);
  expect(points.length).toBeLessThanOrEqual(240);
  expect(points.length).toBeGreaterThan(100);
  expect(points.at(-1)!.at - points[0]!.at).toBeGreaterThan(0.95 * 5000 * 2000);
});

test('an agent that has ended is forgotten', () => {
  const courses = new AgentCourses();
  courses.record(snapshot);
  courses.record({ ...snapshot, processes: snapshot.processes.filter(p => p.kind !== 'agent') });
  expect(courses.of(key)).toEqual([]);
});
