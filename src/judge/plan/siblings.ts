import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { Plan, Refusal } from '../../model/plan.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import {
  buildsByProject,
  chooseOne,
  duplicateServers,
  type Keep,
  type Siblings,
  withWrappers,
} from '../siblings.ts';
import { type ExtraReason, type Ground, groundOf, type PlanGround } from './branches.ts';
import { refusalFor } from './compose.ts';
import { planEndOn } from './end.ts';
import type { EndPolicy } from './policy.ts';

export interface SiblingRequest extends PlanGround {
  readonly policy: EndPolicy;
  /** Only groups with one of these among them; without it, all. */
  readonly about?: ReadonlySet<IdentityKey> | undefined;
  readonly extraReason?: ExtraReason | undefined;
}

const isAbout = ({ members }: Siblings, { about }: SiblingRequest): boolean =>
  about === undefined || members.some(p => about.has(keyOf(p.facts)));

/** The same server twice for one process: all but the newest. */
export const planDuplicates = (request: SiblingRequest): Plan => {
  const ground = groundOf(request);
  const found = duplicateServers(ground.snapshot.processes, ground.family).filter(one =>
    isAbout(one, request),
  );
  return planAllButOne(found, 'newest', request, ground, p => withWrappers(p, ground.family));
};

/** Several `lake build` in one project: all but the oldest, or all but so many of the oldest. */
export const planBuilds = (request: SiblingRequest & { readonly keep?: number }): Plan => {
  const ground = groundOf(request);
  const found = buildsByProject(ground.snapshot.processes, ground.family).filter(one =>
    isAbout(one, request),
  );
  const crowded = found.flatMap(siblings => withoutOldest(siblings, Math.max(1, request.keep ?? 1) - 1));
  return planAllButOne(crowded, 'oldest', request, ground, p => p);
};

/** The same siblings without so many of the oldest; none when no more are left than may stay. */
const withoutOldest = (siblings: Siblings, count: number): readonly Siblings[] => {
  if (count === 0) return [siblings];
  const births = siblings.members.map(p => p.facts.born);
  // A tie at the border, or an age that nobody knows: which are the oldest cannot be told, and all of them stay.
  const told = !births.includes(null) && births[count - 1] !== births[count];
  return told ? [{ ...siblings, members: siblings.members.slice(count) }] : [];
};

const planAllButOne = (
  found: readonly Siblings[],
  keep: Keep,
  { policy, extraReason }: SiblingRequest,
  ground: Ground,
  whole: (p: JudgedProcess) => JudgedProcess,
): Plan => {
  const targets: JudgedProcess[] = [];
  const untold: Refusal[] = [];
  for (const siblings of found) {
    const choice = chooseOne(siblings, keep);
    const { length } = siblings.members;
    if (choice !== null) targets.push(...choice.others.map(whole));
    else
      untold.push(
        ...siblings.members.map(p => refusalFor(p, `it is not known which of ${length} is the ${keep}`)),
      );
  }
  const plan = planEndOn(ground, { targets: targets.map(identityOf), policy }, extraReason);
  return { ...plan, refused: [...plan.refused, ...untold] };
};
