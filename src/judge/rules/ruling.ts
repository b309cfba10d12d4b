import type { Doubt, Verdict } from '../../model/snapshot.ts';
import { type Node, nodeLabel } from './tree.ts';
import type { VerdictContext } from './verdict-context.ts';

export interface Ruling {
  readonly verdict: Verdict;
  readonly why: readonly string[];
  /** With whom it was judged, and why that was: what hangs below is judged with the same. */
  readonly inherited?: string;
  /** It could not be judged at all: nothing stronger follows for what hangs below it. */
  readonly unread?: true;
  /** What speaks for a process that would be leaked without it. */
  readonly doubt?: Doubt | undefined;
}

export const rule = (verdict: Verdict, ...why: string[]): Ruling => ({ verdict, why });

/** Before which a process is judged: what rules may ask, of the context and of each other. */
export interface RuleContext {
  readonly context: VerdictContext;
  /** Decides between "live" and "none of our business". */
  readonly isRelated: (node: Node) => boolean;
  /** What was ruled of another process; each is judged once. */
  readonly judge: (node: Node) => Ruling;
  /** Where, between a process and its agent, something is no longer used; null: nowhere. */
  readonly abandoned: (node: Node) => { readonly at: Node; readonly evidence: string } | null;
}

/** A proof that it is leaked stands unless something speaks against ending it, or is unknown. */
export const unlessDoubted = ({ doubt }: VerdictContext, node: Node, ...why: string[]): Ruling => {
  const against = doubt(node);
  return against === null
    ? rule('leak', ...why)
    : { ...rule('suspect', against.why, ...why), doubt: against };
};

/** What is below another is judged with it: what speaks against ending the one was asked of the whole subtree. */
export const goesWith = (other: Node, { verdict, why, inherited, doubt }: Ruling): Ruling => {
  const because = inherited ?? `goes with ${nodeLabel(other)}: ${why[0]}`;
  return { ...rule(verdict, because), inherited: because, doubt };
};
