import { describe, expect, it } from 'vitest';
import { forestOf, selfAndAncestors, type TreePlace } from '../../src/model/forest.ts';

const at = (pid: number, ppid: number | null): TreePlace => ({ pid, ppid });
const pids = (places: readonly TreePlace[]): number[] => places.map(({ pid }) => pid);
const MEMBERS = [at(5, 2), at(2, 1), at(4, 2), at(7, 5), at(9, 8), at(1, 0)];
const forest = forestOf(MEMBERS, place => place);
const of = (pid: number): TreePlace => forest.at(pid)!;

describe('a forest', () => {
  it('knows roots, parents, children and ancestors', () => {
    expect(pids(forest.roots)).toEqual([9, 1]);
    expect(forest.parentOf(of(9))).toBeNull();
    expect(pids(forest.childrenOf(of(2)))).toEqual([5, 4]);
    expect(pids(forest.ancestorsOf(of(7)))).toEqual([5, 2, 1]);
  });

  it('gives a subtree with parents before children, and a plan with leaves before parents', () => {
    expect(pids(forest.subtreeOf(of(2)))).toEqual([2, 5, 7, 4]);
    expect(pids(forest.leavesFirst(forest.subtreeOf(of(1))))).toEqual([4, 7, 5, 2, 1]);
  });

  it('links nobody that may not be the parent', () => {
    const young = forestOf(
      MEMBERS,
      place => place,
      parent => parent.pid !== 2,
    );
    expect(pids(young.roots)).toEqual([5, 4, 9, 1]);
  });

  it('ends every walk in a table that goes in circles, and loses nobody', () => {
    const [a, b, self] = [at(10, 11), at(11, 10), at(12, 12)];
    const looped = forestOf([a, b, self], place => place);
    expect(pids(looped.roots)).toEqual([11, 12]);
    expect(pids(looped.ancestorsOf(a))).toEqual([11]);
    // Whoever ends one of them takes both, or neither.
    expect(pids(looped.subtreeOf(a)).sort()).toEqual([10, 11]);
    expect(pids(looped.subtreeOf(b)).sort()).toEqual([10, 11]);
    expect(pids(looped.leavesFirst([b, a]))).toEqual([10, 11]);
  });
});

describe('a walk by the pids themselves', () => {
  it('goes up to where nobody is', () => {
    const above = ({ ppid }: TreePlace) => forest.at(ppid);
    expect(pids([...selfAndAncestors(of(7), above)])).toEqual([7, 5, 2, 1]);
    expect(selfAndAncestors<TreePlace>(null, above).size).toBe(0);
  });

  it('ends in a circle with everybody in it', () => {
    const [a, b, c] = [at(10, 12), at(11, 10), at(12, 11)];
    const places = [a, b, c];
    expect(pids(forestOf(places, place => place).subtreeOf(a)).sort()).toEqual([10, 11, 12]);
    const above = ({ ppid }: TreePlace) => places.find(({ pid }) => pid === ppid);
    expect(pids([...selfAndAncestors(b, above)])).toEqual([11, 10, 12]);
  });
});
