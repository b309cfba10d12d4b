import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { JudgedProcess, Snapshot } from '../../model/snapshot.ts';

/** Who descends from whom in one snapshot. */
export interface Family {
  readonly byKey: ReadonlyMap<IdentityKey, JudgedProcess>;
  /** Reaptop itself and everything above it. Empty when the snapshot does not hold reaptop. */
  readonly lineOfSelf: ReadonlySet<IdentityKey>;
  parentOf(process: JudgedProcess): JudgedProcess | null;
  /** By pid, so that plans come out the same every time. */
  childrenOf(process: JudgedProcess): readonly JudgedProcess[];
  /** The process and all its descendants, parents before children. */
  subtreeOf(process: JudgedProcess): readonly JudgedProcess[];
}

export const familyOf = (snapshot: Snapshot): Family => {
  const byKey = new Map<IdentityKey, JudgedProcess>();
  const byPid = new Map<number, JudgedProcess>();
  const children = new Map<number, JudgedProcess[]>();
  for (const process of snapshot.processes) {
    byKey.set(keyOf(process.facts), process);
    byPid.set(process.facts.pid, process);
  }
  for (const process of byPid.values()) {
    const { pid, ppid } = process.facts;
    if (ppid === null || ppid === pid) continue;
    const siblings = children.get(ppid);
    if (siblings === undefined) children.set(ppid, [process]);
    else siblings.push(process);
  }
  for (const siblings of children.values()) siblings.sort((a, b) => a.facts.pid - b.facts.pid);

  const parentOf = (process: JudgedProcess): JudgedProcess | null =>
    process.facts.ppid === null ? null : (byPid.get(process.facts.ppid) ?? null);
  const childrenOf = (process: JudgedProcess): readonly JudgedProcess[] =>
    children.get(process.facts.pid) ?? [];

  // The `seen` sets: a table read while pids are reused can hold a cycle.
  const subtreeOf = (process: JudgedProcess): readonly JudgedProcess[] => {
    const seen = new Set([process]);
    for (const member of seen) for (const child of childrenOf(member)) seen.add(child);
    return [...seen];
  };

  const lineOfSelf = new Set<IdentityKey>();
  let above = snapshot.self === null ? null : (byPid.get(snapshot.self.pid) ?? null);
  while (above !== null && !lineOfSelf.has(keyOf(above.facts))) {
    lineOfSelf.add(keyOf(above.facts));
    above = parentOf(above);
  }
  return { byKey, lineOfSelf, parentOf, childrenOf, subtreeOf };
};
