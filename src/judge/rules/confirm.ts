import type { Finding } from '../../model/finding.ts';
import { keyOf } from '../../model/identity.ts';
import type { JudgedProcess, Snapshot, Verdict } from '../../model/snapshot.ts';
import { leakFinding, leakGroups } from '../findings/leak.ts';

/** Verdicts that lead to a signal, weakest first. */
const DOOMED: readonly Verdict[] = ['suspect', 'leak'];

/**
 * A leak must be seen twice before anything acts on it: a process between fork and exec, or an agent
 * that has not registered yet, looks leaked for a moment. The milder of the two verdicts stands.
 */
export const confirmedBy = (earlier: Snapshot, now: Snapshot): Snapshot => {
  const before = new Map(earlier.processes.map(p => [keyOf(p.facts), verdictThen(p)]));
  const confirm = (p: JudgedProcess): JudgedProcess => {
    const was = before.get(keyOf(p.facts)) ?? 'unknown';
    if (DOOMED.indexOf(was) >= DOOMED.indexOf(p.verdict)) return p;
    const verdict = was === 'suspect' ? 'suspect' : 'unknown';
    return { ...p, verdict, why: [`seen as ${p.verdict} only once: ${p.why[0] ?? 'no reason known'}`] };
  };
  return { ...now, processes: now.processes.map(confirm) };
};

/** What only the second sample could tell does not count against it in the first. */
const verdictThen = ({ verdict, doubt }: JudgedProcess): Verdict =>
  doubt?.unsampled === true ? 'leak' : verdict;

/** For a screen that goes on looking: a leak is part of a finding from its second sighting on. */
export const withLeaksSeenTwice = <S extends Snapshot>(earlier: Snapshot | null, now: S): S => {
  const before = new Set(earlier?.processes.filter(p => verdictThen(p) === 'leak').map(p => keyOf(p.facts)));
  let same = true;
  const findings = now.findings.flatMap((finding): readonly Finding[] => {
    const again = finding.id === 'leak' ? finding.processes.filter(p => before.has(keyOf(p))) : null;
    if (again === null || again.length === finding.processes.length) return [finding];
    same = false;
    const keys = new Set(again.map(keyOf));
    return leakGroups(now.processes.filter(p => keys.has(keyOf(p.facts)))).map(group =>
      leakFinding(group, finding.severity),
    );
  });
  return same ? now : { ...now, findings };
};
