import type { Verdict } from '../../model/snapshot.ts';
import { wantedByOthers } from './carries.ts';
import { calls, type Node } from './tree.ts';
import type { World } from './world.ts';

export type Ruling = { readonly verdict: Verdict; readonly why: readonly string[] };

export const rule = (verdict: Verdict, ...why: string[]): Ruling => ({ verdict, why });

/** Before which a process is judged: what rules may ask, of the world and of each other. */
export interface Court {
  readonly world: World;
  /** Decides between "live" and "none of our business". */
  readonly isRelated: (node: Node) => boolean;
  /** What was ruled of another process; each is judged once. */
  readonly judge: (node: Node) => Ruling;
}

/** What is judged with another: but what others still want is not ended with it. */
export const goesWith = (node: Node, other: Node, { verdict, why }: Ruling): Ruling => {
  const because = `goes with ${calls(other)}: ${why[0]}`;
  const wanted = verdict === 'leak' ? wantedByOthers(node) : null;
  return wanted === null ? rule(verdict, because) : rule('suspect', wanted, because);
};
