import { type Forest, forestOf } from '../../model/forest.ts';
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
  // By the pids themselves: in a torn table the forest may have left out a link, and who is above us must not be lost.
  const lineOfSelf = new Set<IdentityKey>();
  let above = forest.at(self?.pid ?? null);
  while (above !== null && !lineOfSelf.has(keyOf(above.facts))) {
    lineOfSelf.add(keyOf(above.facts));
    above = forest.at(above.facts.ppid);
  }
  return { ...forest, byKey: new Map(processes.map(p => [keyOf(p.facts), p])), lineOfSelf };
};
