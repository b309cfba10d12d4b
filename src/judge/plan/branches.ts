import { type IdentityKey, keyOf } from '../../model/identity.ts';
import { isZombie } from '../../model/process.ts';
import type { JudgedProcess, Snapshot } from '../../model/snapshot.ts';
import { calls } from '../../words/process.ts';
import { adopts } from '../rules/climb.ts';
import { type Family, familyOf } from './family.ts';
import type { EndPolicy } from './policy.ts';
import { memberReason, neverReason } from './refuse.ts';

/** What every planner starts from. */
export interface PlanGround {
  /** Judged with every process in it, not only the related ones. */
  readonly snapshot: Snapshot;
  /** Living identities once seen below this one that may since have been reparented. */
  readonly lineageMembers: (target: IdentityKey) => readonly IdentityKey[];
}

export interface Ground extends PlanGround {
  readonly family: Family;
}

export const groundOf = (input: PlanGround): Ground => ({
  snapshot: input.snapshot,
  lineageMembers: input.lineageMembers,
  family: familyOf(input.snapshot),
});

/** A subtree that is either taken whole or left whole. */
export type Branch =
  | { readonly taken: true; readonly members: readonly JudgedProcess[] }
  | { readonly taken: false; readonly why: string };

export type ExtraReason = (member: JudgedProcess) => string | null;

/** Judges a whole subtree: one process in it that must stay keeps all of it. Zombies are passed over. */
export const branchOf = (
  root: JudgedProcess,
  ground: Ground,
  policy: EndPolicy,
  extraReason: ExtraReason = () => null,
): Branch => {
  const subtree = ground.family.subtreeOf(root);
  const kept: { readonly p: JudgedProcess; readonly why: string }[] = [];
  for (const p of subtree) {
    if (isZombie(p.facts)) continue;
    const why = neverReason(p, ground.snapshot, ground.family) ?? memberReason(p, policy) ?? extraReason(p);
    if (why !== null) kept.push({ p, why });
  }
  const [first, ...others] = kept;
  if (first === undefined) return { taken: true, members: subtree.filter(p => !isZombie(p.facts)) };
  if (first.p === root) return { taken: false, why: first.why };
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return {
    taken: false,
    why: `the whole subtree stays, because ${calls(first.p)} is in it: ${first.why}${more}`,
  };
};

/** A process that has left the target's subtree since the ledger saw it there. */
export type LineageBranch =
  | { readonly root: JudgedProcess; readonly adopted: true }
  | { readonly root: JudgedProcess; readonly adopted: false; readonly why: string };

/** The topmost reparented members of a target: what is still in its subtree needs no lineage. */
export const lineageBranchesOf = (target: JudgedProcess, ground: Ground): readonly LineageBranch[] => {
  const { family, snapshot } = ground;
  const inside = new Set(family.subtreeOf(target));
  const members = new Set<JudgedProcess>();
  for (const key of ground.lineageMembers(keyOf(target.facts))) {
    const p = family.byKey.get(key);
    if (p !== undefined && !inside.has(p) && !isZombie(p.facts)) members.add(p);
  }
  const branches: LineageBranch[] = [];
  for (const root of members) {
    const parent = family.parentOf(root);
    if (parent !== null && members.has(parent)) continue;
    if (isAdopted(root, parent, snapshot)) branches.push({ root, adopted: true });
    else
      branches.push({
        root,
        adopted: false,
        why: `it once ran below ${calls(target)} but belongs to ${parent === null ? 'another parent' : calls(parent)} now`,
      });
  }
  return branches;
};

/** Handed to an orphan root, and not started anew by somebody (a pane of a tmux server is the server's own child). */
const isAdopted = (p: JudgedProcess, parent: JudgedProcess | null, snapshot: Snapshot): boolean => {
  if (p.facts.ppid === 1) return true;
  if (parent === null) return false;
  if (parent.seen.role === 'tmux-server')
    return snapshot.tmux.some(
      server =>
        server.pid === parent.facts.pid &&
        server.reachable &&
        !server.panes.some(pane => pane.pid === p.facts.pid),
    );
  return adopts(parent, p);
};
