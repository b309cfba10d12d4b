import type { MemoryPoint, Past } from '../judge/history.ts';
import { type Linking, linkForest, subtreeOf } from '../model/forest.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import { memoryOf } from '../model/process.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';

const KEEP_MS = 10 * 60 * 1000;

/** One point in five seconds: 120 points a process draw a plot as well as 300 do, at less than half the memory. */
const SPACING_MS = 5000;

interface Course {
  readonly points: MemoryPoint[];
  state: string;
  stateSince: number;
  cpuSeconds: number | null;
  cpuSince: number;
  /** When `cpuSeconds` was read. */
  at: number;
  /** Samples in a row in which it did nothing; null: there is one sample of it. */
  idle: number | null;
}

/** The kernel counts CPU time in steps of 10 ms. */
const STEP_SECONDS = 0.01;
/** Of a core: less is timers and nothing else. */
const WORK_SHARE = 0.01;

const idleAt = (
  { cpuSeconds: before, at: then, idle }: Course,
  cpuSeconds: number | null,
  at: number,
): number | null => {
  if (before === null || cpuSeconds === null) return null;
  const used = cpuSeconds - before;
  const isIdle = used <= Math.max(STEP_SECONDS, ((at - then) / 1000) * WORK_SHARE) + 1e-9;
  // The first of the samples in between which it did nothing counts, too.
  return isIdle ? (idle ?? 1) + 1 : 0;
};

/** Ten minutes of every related process: memory growth, spinning and stuck I/O are derived from it. */
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
      if (course.at !== this.#now) course.idle = idleAt(course, facts.cpuSeconds, this.#now);
      course.at = this.#now;
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

  idleSamples({ key, cpuSeconds, at }: Parameters<Past['idleSamples']>[0]): number | null {
    const course = this.#courses.get(key);
    if (course === undefined) return this.#courses.size === 0 ? null : 0;
    return at === course.at ? course.idle : idleAt(course, cpuSeconds, at);
  }

  memory(key: IdentityKey): readonly MemoryPoint[] {
    return this.#courses.get(key)?.points ?? [];
  }

  #begin(key: IdentityKey, state: string, cpuSeconds: number | null): Course {
    const course: Course = {
      points: [],
      state,
      stateSince: this.#now,
      cpuSeconds,
      cpuSince: this.#now,
      at: this.#now,
      idle: null,
    };
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

/** As many as a plot has cells; when there are more, two become one and the rest of the day still fits. */
const MOST_POINTS = 240;
/** Of a tree that is no agent's: there may be hundreds of them. */
const MOST_POINTS_BELOW = 120;

interface TreeHistory {
  points: MemoryPoint[];
  readonly most: number;
  /** Samples that make one point. */
  every: number;
  /** Samples since the last point. */
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
 * CPU and memory of every agent, and of every process with children, since it was first seen. Each point is the sum
 * over one sample: what has ended meanwhile is still in the past of its tree, and what is new was never in it.
 */
export class TreeHistories {
  readonly #trees = new Map<IdentityKey, TreeHistory>();

  record(snapshot: Snapshot): void {
    const present = new Set<IdentityKey>();
    for (const { process, bytes, cpu, children } of treeTotals(snapshot)) {
      if (!process.related) continue;
      const key = keyOf(process.facts);
      present.add(key);
      const isAgent = process.kind === 'agent';
      if (isAgent || children.length > 0 || this.#trees.has(key))
        this.#add(key, isAgent ? MOST_POINTS : MOST_POINTS_BELOW, { at: snapshot.takenAt, bytes, cpu });
    }
    for (const key of this.#trees.keys()) if (!present.has(key)) this.#trees.delete(key);
  }

  of(key: IdentityKey): readonly MemoryPoint[] {
    return this.#trees.get(key)?.points ?? [];
  }

  #add(key: IdentityKey, most: number, point: MemoryPoint): void {
    const tree = this.#trees.get(key) ?? { points: [], most, every: 1, since: 0 };
    this.#trees.set(key, tree);
    tree.since += 1;
    if (tree.points.length > 0 && tree.since < tree.every) return;
    tree.since = 0;
    tree.points.push(point);
    if (tree.points.length < tree.most) return;
    tree.points = halved(tree.points);
    tree.every *= 2;
  }
}

interface TreeTotal extends Linking<TreeTotal> {
  readonly process: JudgedProcess;
  bytes: number;
  cpu: number | null;
}

/** Every process with the sum over itself and all below it, in one pass. */
const treeTotals = ({ processes }: Snapshot): readonly TreeTotal[] => {
  const totals = processes.map((process): TreeTotal => {
    const { facts } = process;
    return { process, bytes: memoryOf(facts), cpu: facts.cpu, parent: null, children: [] };
  });
  linkForest(
    totals,
    ({ process }) => process.facts,
    () => true,
  );
  for (const root of totals) {
    if (root.parent !== null) continue;
    // Backwards, so that every child is complete before its parent.
    for (const { parent, bytes, cpu } of [...subtreeOf(root)].reverse()) {
      if (parent === null) continue;
      parent.bytes += bytes;
      if (cpu !== null) parent.cpu = (parent.cpu ?? 0) + cpu;
    }
  }
  return totals;
};

/** The same of one tree in one snapshot; null: it is not in it. */
export const treePoint = (snapshot: Snapshot, key: IdentityKey): MemoryPoint | null => {
  const found = treeTotals(snapshot).find(({ process }) => keyOf(process.facts) === key);
  return found === undefined ? null : { at: snapshot.takenAt, bytes: found.bytes, cpu: found.cpu };
};
