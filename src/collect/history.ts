import type { MemoryPoint, Past } from '../judge/past.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import { memoryOf } from '../model/process.ts';
import type { Snapshot } from '../model/snapshot.ts';

const KEEP_MS = 10 * 60 * 1000;

/** One point in five seconds: 120 points a process draw a plot as well as 300 do, at less than half the memory. */
const SPACING_MS = 5000;

interface Course {
  readonly points: MemoryPoint[];
  state: string;
  stateSince: number;
  cpuSeconds: number | null;
  cpuSince: number;
}

/** Ten minutes of every related process: what memory growth, spinning and stuck I/O are told from. */
export class History implements Past {
  readonly #courses = new Map<IdentityKey, Course>();
  #now = 0;

  record(snapshot: Snapshot): void {
    // The clock was set back: times recorded against it mean nothing now, and would stand in the way of new ones.
    if (snapshot.takenAt < this.#now) this.#courses.clear();
    this.#now = snapshot.takenAt;
    const present = new Set<IdentityKey>();
    for (const { facts, related } of snapshot.processes) {
      if (!related) continue;
      const key = keyOf(facts);
      present.add(key);
      const course = this.#courses.get(key) ?? this.#begin(key, facts.state, facts.cpuSeconds);
      if (course.state !== facts.state) {
        course.state = facts.state;
        course.stateSince = this.#now;
      }
      if (course.cpuSeconds !== facts.cpuSeconds) {
        course.cpuSeconds = facts.cpuSeconds;
        course.cpuSince = this.#now;
      }
      this.#add(course.points, { at: this.#now, bytes: memoryOf(facts), cpu: facts.cpu });
    }
    for (const key of this.#courses.keys()) if (!present.has(key)) this.#courses.delete(key);
  }

  stateSeconds(key: IdentityKey): number | null {
    const course = this.#courses.get(key);
    return course === undefined ? null : (this.#now - course.stateSince) / 1000;
  }

  quietSeconds(key: IdentityKey): number | null {
    const course = this.#courses.get(key);
    return course === undefined || course.cpuSeconds === null ? null : (this.#now - course.cpuSince) / 1000;
  }

  memory(key: IdentityKey): readonly MemoryPoint[] {
    return this.#courses.get(key)?.points ?? [];
  }

  #begin(key: IdentityKey, state: string, cpuSeconds: number | null): Course {
    const course: Course = { points: [], state, stateSince: this.#now, cpuSeconds, cpuSince: this.#now };
    this.#courses.set(key, course);
    return course;
  }

  #add(points: MemoryPoint[], point: MemoryPoint): void {
    const last = points.at(-1);
    if (last !== undefined && point.at - last.at < SPACING_MS) return;
    points.push(point);
    // The oldest point stays until the next one is ten minutes old: a rise over ten minutes needs both its ends.
    while (points[1] !== undefined && point.at - points[1].at >= KEEP_MS) points.shift();
  }
}
