import type { MemoryPoint } from '../judge/past.ts';
import { type Children, childrenByParent, withAllBelow } from '../model/forest.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import { memoryOf } from '../model/process.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';

/** As many as a plot has cells; when there are more, two become one and the rest of the day still fits. */
const MOST_POINTS = 240;

interface Course {
  points: MemoryPoint[];
  /** Looks that make one point. */
  every: number;
  /** Looks since the last point. */
  since: number;
}

const middle = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : (a + b) / 2;

const halved = (points: readonly MemoryPoint[]): MemoryPoint[] =>
  points.flatMap((point, i) => {
    const next = points[i + 1];
    if (i % 2 === 1) return [];
    return next === undefined
      ? [point]
      : [{ at: next.at, bytes: (point.bytes + next.bytes) / 2, cpu: middle(point.cpu, next.cpu) }];
  });

/**
 * CPU and memory of every agent and all below it since it was first seen, summed up as it was then: what has ended
 * meanwhile is still in the past of its agent.
 */
export class AgentCourses {
  readonly #courses = new Map<IdentityKey, Course>();

  record(snapshot: Snapshot): void {
    const children = childrenByParent(snapshot.processes, p => p.facts);
    const present = new Set<IdentityKey>();
    for (const agent of snapshot.processes) {
      if (agent.kind !== 'agent') continue;
      const key = keyOf(agent.facts);
      present.add(key);
      this.#add(key, { at: snapshot.takenAt, ...totalOf(agent, children) });
    }
    for (const key of this.#courses.keys()) if (!present.has(key)) this.#courses.delete(key);
  }

  of(key: IdentityKey): readonly MemoryPoint[] {
    return this.#courses.get(key)?.points ?? [];
  }

  #add(key: IdentityKey, point: MemoryPoint): void {
    const course = this.#courses.get(key) ?? { points: [], every: 1, since: 0 };
    this.#courses.set(key, course);
    course.since += 1;
    if (course.points.length > 0 && course.since < course.every) return;
    course.since = 0;
    course.points.push(point);
    if (course.points.length < MOST_POINTS) return;
    course.points = halved(course.points);
    course.every *= 2;
  }
}

const totalOf = (
  agent: JudgedProcess,
  children: Children<JudgedProcess>,
): Pick<MemoryPoint, 'bytes' | 'cpu'> => {
  let bytes = 0;
  let cpu: number | null = null;
  for (const { facts } of withAllBelow([agent], children, p => p.facts.pid)) {
    bytes += memoryOf(facts);
    if (facts.cpu !== null) cpu = (cpu ?? 0) + facts.cpu;
  }
  return { bytes, cpu };
};
