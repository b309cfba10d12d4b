import { expect, test } from 'vitest';
import { AgentCourses } from '../../src/live/agent-courses.ts';
import { demoSnapshot } from '../../src/live/demo/demo.ts';
import { DEMO_PROCESSES } from '../../src/live/demo/machine.ts';
import { keyOf } from '../../src/model/identity.ts';
import { memoryOf } from '../../src/model/process.ts';

const agentOf = (snapshot: ReturnType<typeof demoSnapshot>) =>
  snapshot.processes.find(p => p.facts.pid === 5230)!;

test('an agent and all below it, summed up as it was then: what has ended is still in its past', () => {
  const courses = new AgentCourses();
  const before = demoSnapshot(DEMO_PROCESSES, 0);
  courses.record(before);
  const below = before.processes.filter(p => p.facts.ppid === 5230).map(p => p.facts.pid);
  const after = demoSnapshot(
    DEMO_PROCESSES.filter(p => !below.includes(p.pid)),
    10,
  );
  courses.record(after);
  const [then, now] = courses.of(keyOf(agentOf(before).facts));
  expect(then!.bytes).toBeGreaterThan(now!.bytes);
  expect(now!.bytes).toBe(memoryOf(agentOf(after).facts));
  expect(now!.at - then!.at).toBe(10_000);
  expect(then!.cpu).not.toBeNull();
});

test('a whole day fits: points are halved, the first and the last moment stay', () => {
  const courses = new AgentCourses();
  let last = demoSnapshot();
  const first = last.takenAt;
  for (let i = 0; i < 5000; i += 1) {
    last = { ...last, takenAt: first + i * 2000 };
    courses.record(last);
  }
  const points = courses.of(keyOf(agentOf(last).facts));
  expect(points.length).toBeLessThanOrEqual(240);
  expect(points.length).toBeGreaterThan(100);
  expect(points.at(-1)!.at - points[0]!.at).toBeGreaterThan(0.95 * 5000 * 2000);
});

test('an agent that has ended is forgotten', () => {
  const courses = new AgentCourses();
  const snapshot = demoSnapshot();
  courses.record(snapshot);
  courses.record({ ...snapshot, processes: snapshot.processes.filter(p => p.kind !== 'agent') });
  expect(courses.of(keyOf(agentOf(snapshot).facts))).toEqual([]);
});
