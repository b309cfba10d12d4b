import { memoryOf } from '../../model/process.ts';
import type { Branch } from './branch.ts';

/** Orders of siblings, each by what its column shows: `memory` by the process's own, `tree` by that of its subtree. */
export const SORTS = ['start', 'memory', 'tree', 'cpu', 'newest', 'name', 'pid'] as const;
export type SortId = (typeof SORTS)[number];

type Order = (a: Branch, b: Branch) => number;

const byStart: Order = (a, b) =>
  (a.process.facts.born ?? 0) - (b.process.facts.born ?? 0) || a.process.facts.pid - b.process.facts.pid;

const ownBytes = ({ process }: Branch): number => memoryOf(process.facts);
const ownCpu = ({ process }: Branch): number => process.facts.cpu ?? 0;

/** CPU in steps of 5 %, so that rows do not change places at every refresh. */
const coarse = (cpu: number): number => Math.round(cpu / 5);

/** Memory in steps of about 6 %, for the same reason. */
const octave = (bytes: number): number => Math.round(Math.log2(bytes + 1) * 12);

const ORDERS = {
  start: byStart,
  memory: (a, b) => octave(ownBytes(b)) - octave(ownBytes(a)),
  tree: (a, b) => octave(b.bytes) - octave(a.bytes),
  cpu: (a, b) => coarse(ownCpu(b)) - coarse(ownCpu(a)),
  newest: (a, b) => byStart(b, a),
  name: (a, b) => a.process.name.localeCompare(b.process.name),
  pid: (a, b) => a.process.facts.pid - b.process.facts.pid,
} satisfies Record<SortId, Order>;

/** In a list somebody wants the biggest first, whoever changes places. */
const EXACT: Readonly<Partial<Record<SortId, Order>>> = {
  memory: (a, b) => ownBytes(b) - ownBytes(a),
  tree: (a, b) => b.bytes - a.bytes,
  cpu: (a, b) => ownCpu(b) - ownCpu(a),
};

const turned = (order: Order, reversed: boolean): Order =>
  reversed ? (a, b) => order(b, a) || byStart(a, b) : (a, b) => order(a, b) || byStart(a, b);

export const comparing = (sort: SortId, reversed = false): Order => turned(ORDERS[sort], reversed);

export const exactly = (sort: SortId, reversed: boolean): Order =>
  turned(EXACT[sort] ?? ORDERS[sort], reversed);
