import { type Identity, keyOf } from '../../model/identity.ts';
import type { Plan, Refusal, SignalName, Step } from '../../model/plan.ts';
import { isZombie } from '../../model/process.ts';
import type { JudgedProcess, Snapshot } from '../../model/snapshot.ts';
import { groundOf } from './branches.ts';
import { composePlan, refusalFor, stepFor, unknownTarget } from './compose.ts';
import { zombieReason } from './end.ts';
import { handPolicy } from './policy.ts';
import { neverReason, unfitSnapshot } from './refuse.ts';

export interface SignalRequest {
  readonly snapshot: Snapshot;
  readonly targets: readonly Identity[];
  readonly signal: SignalName;
}

/** `S`: this signal to exactly these processes, children untouched. Hard protection holds here too. */
export const planSignal = ({ snapshot, targets, signal }: SignalRequest): Plan => {
  const ground = groundOf({ snapshot, lineageMembers: () => [] });
  const unfit = unfitSnapshot(snapshot, ground.family);
  const chosen = new Map<JudgedProcess, Step>();
  const refused: Refusal[] = [];
  for (const target of targets) {
    const p = ground.family.byKey.get(keyOf(target));
    if (p === undefined) {
      refused.push(unknownTarget(target, ground.family));
      continue;
    }
    const zombie = isZombie(p.facts) ? zombieReason(p, ground) : null;
    const why = unfit ?? neverReason(p, snapshot, ground.family) ?? zombie;
    if (why !== null) refused.push(refusalFor(p, why));
    else chosen.set(p, stepFor(p, { root: p, signal, why: `${signal} was asked for` }));
  }
  return composePlan(chosen, refused, ground.family, { ...handPolicy(), signal });
};
