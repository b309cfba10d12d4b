import { isZombie } from '../../model/process.ts';
import type { Node, Tree } from './tree.ts';

/** A browser starts its crash handler before anything else. */
const SECONDS_AFTER_BROWSER = 5;

/** The browser that a crash handler was started by: the last one to start before it. Nothing else ties the two. */
export const browserOfHandler = ({ facts: { born } }: Node, tree: Tree): Node | null => {
  let best: Node | null = null;
  for (const node of tree.nodes) {
    const started = node.facts.born;
    if (node.kind !== 'browser' || isZombie(node.facts) || born === null || started === null) continue;
    if (started > born || born - started > SECONDS_AFTER_BROWSER) continue;
    if (node.parent?.kind === 'browser') continue; // its own renderers start about then, too
    if (best === null || started > (best.facts.born ?? 0)) best = node;
  }
  return best;
};
