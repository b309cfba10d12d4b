import { type Forest, forestOf, lineUpFrom } from '../../model/forest.ts';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { JudgedProcess, Snapshot } from '../../model/snapshot.ts';

/** Who descends from whom in one snapshot. */
export interface Family extends Forest<JudgedProcess> {
  readonly byKey: ReadonlyMap<IdentityKey, JudgedProcess>;
  /** Reaptop itself and everything above it. Empty when the snapshot does not hold reaptop. */
  readonly lineOfSelf: ReadonlySet<IdentityKey>;
}

export const familyOf = ({ processes, self }: Snapshot): Family => {
  // By pid, so that plans come out the same every time.
  const forest = forestOf(
    [...processes].sort((a, b) => a.facts.pid - b.facts.pid),
    p => p.facts,
  );
  const line = lineUpFrom(forest.at(self?.pid ?? null), p => forest.at(p.facts.ppid));
  const lineOfSelf = new Set(Array.from(line, p => keyOf(p.facts)));
  return { ...forest, byKey: new Map(processes.map(p => [keyOf(p.facts), p])), lineOfSelf };
};
