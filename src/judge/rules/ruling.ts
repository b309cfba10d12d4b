import type { Verdict } from '../../model/snapshot.ts';
import { wantedByOthers } from './carries.ts';
import { calls, type Node } from './tree.ts';
import type { World } from './world.ts';

export interface Ruling {
  readonly verdict: Verdict;
  readonly why: readonly string[];
  /** With whom it was judged, and why that was: what hangs below is judged with the same. */
  readonly inherited?: string;
}

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
export const goesWith = (node: Node, other: Node, { verdict, why, inherited }: Ruling): Ruling => {
  const because = inherited ?? `goes with ${calls(other)}: ${why[0]}`;
  const wanted = verdict === 'leak' ? wantedByOthers(node) : null;
  return wanted === null
    ? { ...rule(verdict, because), inherited: because }
    : rule('suspect', wanted, because);
};
