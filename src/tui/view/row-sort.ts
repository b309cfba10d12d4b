import type { Branch } from './branch.ts';

/** Orders of siblings. Memory and CPU count the whole subtree: a fat child lifts its agent. */
export const SORTS = ['start', 'memory', 'cpu', 'newest', 'name', 'pid'] as const;
export type SortId = (typeof SORTS)[number];

const byStart = (a: Branch, b: Branch): number =>
  (a.process.facts.born ?? 0) - (b.process.facts.born ?? 0) || a.process.facts.pid - b.process.facts.pid;

/** CPU in steps of 5 %, so that rows do not change places at every refresh. */
const coarse = (cpu: number): number => Math.round(cpu / 5);

/** Memory in steps of about 6 %, for the same reason. */
const octave = (bytes: number): number => Math.round(Math.log2(bytes + 1) * 12);

const ORDERS = {
  start: byStart,
  memory: (a, b) => octave(b.bytes) - octave(a.bytes),
  cpu: (a, b) => coarse(b.cpu) - coarse(a.cpu),
  newest: (a, b) => byStart(b, a),
  name: (a, b) => a.process.name.localeCompare(b.process.name),
  pid: (a, b) => a.process.facts.pid - b.process.facts.pid,
} satisfies Record<SortId, (a: Branch, b: Branch) => number>;

export const comparing =
  (sort: SortId) =>
  (a: Branch, b: Branch): number =>
    ORDERS[sort](a, b) || byStart(a, b);
