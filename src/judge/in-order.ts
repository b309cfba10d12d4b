import type { Node, Tree } from './rules/tree.ts';

interface Placed {
  readonly node: Node;
  readonly depth: number;
}

/** Shown processes with their depth among the shown ones; parents before children, each exactly once. */
export const inOrder = (tree: Tree, shown: ReadonlySet<Node>): readonly Placed[] => {
  // Of thousands of processes a few are shown: only the ways that lead to them are walked.
  const ways = new Set<Node>();
  for (const node of shown)
    for (let up: Node | null = node; up !== null && !ways.has(up); up = up.parent) ways.add(up);
  const placed: Placed[] = [];
  for (const root of tree.nodes) {
    if (root.parent !== null || !ways.has(root)) continue;
    // A hidden process passes on the depth of the one above it.
    const pending: Placed[] = [{ node: root, depth: 0 }];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const { node, depth } = next;
      const isShown = shown.has(node);
      if (isShown) placed.push(next);
      const below = isShown ? depth + 1 : depth;
      for (let index = node.children.length - 1; index >= 0; index -= 1) {
        const child = node.children[index]!;
        if (ways.has(child)) pending.push({ node: child, depth: below });
      }
    }
  }
  return placed;
};
