import { describe, expect, it } from 'vitest';
import { childrenByParent, forestOf, lineUpFrom, type Place, withAllBelow } from '../../src/model/forest.ts';

const at = (pid: number, ppid: number | null): Place => ({ pid, ppid });
const pids = (places: readonly Place[]): number[] => places.map(({ pid }) => pid);
const MEMBERS = [at(5, 2), at(2, 1), at(4, 2), at(7, 5), at(9, 8), at(1, 0)];
const forest = forestOf(MEMBERS, place => place);
const of = (pid: number): Place => forest.at(pid)!;

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
  const children = (places: readonly Place[]) => childrenByParent(places, place => place);
  const below = (tops: readonly Place[], places: readonly Place[]) =>
    pids([...withAllBelow(tops, children(places), ({ pid }) => pid)]);

  it('goes down level by level, each once', () => {
    expect(below([of(2)], MEMBERS)).toEqual([2, 5, 4, 7]);
    expect(below([of(2), of(5)], MEMBERS)).toEqual([2, 5, 4, 7]);
  });

  it('goes up to where nobody is', () => {
    const above = ({ ppid }: Place) => forest.at(ppid);
    expect(pids([...lineUpFrom(of(7), above)])).toEqual([7, 5, 2, 1]);
    expect(lineUpFrom<Place>(null, above).size).toBe(0);
  });

  it('ends in a circle with everybody in it', () => {
    const [a, b, c] = [at(10, 12), at(11, 10), at(12, 11)];
    const places = [a, b, c];
    expect(below([a], places)).toEqual([10, 11, 12]);
    const above = ({ ppid }: Place) => places.find(({ pid }) => pid === ppid);
    expect(pids([...lineUpFrom(b, above)])).toEqual([11, 10, 12]);
  });
});
