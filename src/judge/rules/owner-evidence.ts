import type { Owner } from '../../model/snapshot.ts';
import { namesAsAbove } from './environment-marks.ts';
import type { Node } from './tree.ts';
import { sessionIdOf, type VerdictContext } from './verdict-context.ts';

/**
 * How sure we are about an owner's fate. `unproven`: not to be found, but that proves nothing by itself;
 * `uncertain`: there are signs that it lives; `undecided`: any of several running agents may be the owner.
 */
export type Fate = 'alive' | 'dead' | 'unproven' | 'uncertain' | 'undecided';

/** What one piece of evidence, or all of it together, says about a process's owner. */
export interface OwnerEvidence {
  readonly owner: Owner;
  readonly fate: Fate;
  readonly why: string;
  /** The running session that goes on with a dead owner's conversation. */
  readonly resumedBy?: string;
}

/** A living owner of its own that is not ruled out: a leaked parent then proves nothing of the child. */
export const mayBeOwned = (node: Node, ownership: OwnerEvidence | null): boolean =>
  (ownership?.fate === 'uncertain' || ownership?.fate === 'unproven') && !namesAsAbove(node);

export const ownedBy = (
  agent: Node,
  context: VerdictContext,
  how: Owner['how'],
  why: string,
): OwnerEvidence => ({
  owner: {
    pid: agent.facts.pid,
    start: agent.facts.start,
    sessionId: sessionIdOf(context, agent),
    how,
    alive: true,
  },
  fate: 'alive',
  why,
});
