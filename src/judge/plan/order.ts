import type { JudgedProcess } from '../../model/snapshot.ts';
import type { Family } from './family.ts';

/**
 * Leaves first, then up: by height above the deepest descendant, which puts every child before
 * its parent; ties by pid, so that the same snapshot always gives the same plan.
 */
export const leavesFirst = (members: readonly JudgedProcess[], family: Family): readonly JudgedProcess[] => {
  const heights = new Map<JudgedProcess, number>();
  const measure = (top: JudgedProcess): void => {
    // Parents come before children in a subtree, so backwards every child is known before its parent.
    for (const p of [...family.subtreeOf(top)].reverse()) {
      if (heights.has(p)) continue;
      let height = 0;
      for (const child of family.childrenOf(p)) height = Math.max(height, (heights.get(child) ?? 0) + 1);
      heights.set(p, height);
    }
  };
  for (const member of members) if (!heights.has(member)) measure(member);
  return [...members].sort(
    (a, b) => (heights.get(a) ?? 0) - (heights.get(b) ?? 0) || a.facts.pid - b.facts.pid,
  );
};
