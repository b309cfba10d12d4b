import { keyOf } from '../model/identity.ts';
import type { JudgedThen } from '../model/snapshot.ts';
import { type JudgedSnapshot, totalsOf } from './judge.ts';
import type { Node, Tree } from './rules/tree.ts';

/** What concerned an agent then, by what a recording does not hold: lineage, environments. */
export const relatedThen = (
  tree: Tree,
  related: ReadonlySet<Node>,
  { processes }: JudgedThen,
): ReadonlySet<Node> =>
  new Set([...related, ...tree.nodes.filter(({ facts }) => processes.get(keyOf(facts))?.related === true)]);

/**
 * A recording tells the same story as its machine did: sockets, files and environments, which decided then, are not
 * in it. What it says nothing about stays as it is judged now.
 */
export const asJudgedThen = (snapshot: JudgedSnapshot, then: JudgedThen): JudgedSnapshot => {
  const processes = snapshot.processes.map(p => {
    const told = then.processes.get(keyOf(p.facts));
    return told === undefined ? p : { ...p, ...told };
  });
  const related = processes.filter(p => p.related);
  return {
    ...snapshot,
    processes,
    findings: then.findings ?? snapshot.findings,
    heartbeats: then.heartbeats ?? snapshot.heartbeats,
    warnings: [...then.warnings, ...snapshot.warnings.filter(text => !then.warnings.includes(text))],
    totals: totalsOf(related, then.count ?? snapshot.totals.processes),
  };
};
