import { forestOf } from '../../model/forest.ts';
import { isZombie, memoryOf } from '../../model/process.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import { leakGroups } from '../findings/leak.ts';
import { leakPolicy } from './policy.ts';
import { memberReason } from './refuse.ts';

export interface Amount {
  readonly count: number;
  readonly bytes: number;
}

/** What `clean` would make of the leaks, by the age of their roots. */
export interface Ripeness {
  /** Old enough now. */
  readonly now: Amount;
  /** Younger than the threshold. */
  readonly later: Amount;
}

const amountOf = (trees: readonly (readonly JudgedProcess[])[]): Amount => {
  const all = trees.flat();
  return { count: all.length, bytes: all.reduce((sum, p) => sum + memoryOf(p.facts), 0) };
};

/**
 * What `clean` with this age would end, told without its plan: that needs every process of the machine, a look only
 * those that concern an agent. A tree with something in it that clean leaves alone is in neither amount.
 */
export const ripenessOf = (processes: readonly JudgedProcess[], minimumAgeSeconds: number): Ripeness => {
  const policy = leakPolicy('clean');
  const forest = forestOf(processes, p => p.facts);
  const trees = leakGroups(processes)
    .flatMap(({ roots }) => roots)
    .map(root => ({ root, tree: forest.subtreeOf(root).filter(p => !isZombie(p.facts)) }))
    .filter(({ tree }) => tree.every(p => p.protection !== 'hard' && memberReason(p, policy) === null));
  const isRipe = ({ root }: (typeof trees)[number]): boolean => (root.ageSeconds ?? -1) >= minimumAgeSeconds;
  return {
    now: amountOf(trees.filter(isRipe).map(({ tree }) => tree)),
    later: amountOf(trees.filter(one => !isRipe(one)).map(({ tree }) => tree)),
  };
};
