import { keyOf } from '../../model/identity.ts';
import type { JudgedProcess, Snapshot, Verdict } from '../../model/snapshot.ts';

/** Verdicts that lead to a signal, weakest first. */
const DOOMED: readonly Verdict[] = ['suspect', 'leak'];

/**
 * A leak must be seen twice before anything acts on it: a process between fork and exec, or an agent
 * that has not registered yet, looks leaked for a moment. The milder of the two verdicts stands.
 */
export const confirmedBy = (earlier: Snapshot, now: Snapshot): Snapshot => {
  const before = new Map(earlier.processes.map(p => [keyOf(p.facts), p.verdict]));
  const confirm = (p: JudgedProcess): JudgedProcess => {
    const weight = DOOMED.indexOf(p.verdict);
    if (weight < 0) return p;
    const was = before.get(keyOf(p.facts));
    if (was !== undefined && DOOMED.indexOf(was) >= weight) return p;
    const verdict = was === 'suspect' ? 'suspect' : 'unknown';
    return { ...p, verdict, why: [`seen as ${p.verdict} only once: ${p.why[0] ?? 'no reason known'}`] };
  };
  return { ...now, processes: now.processes.map(confirm) };
};

/** For a screen that goes on looking: a leak is a finding from its second sighting on. */
export const withLeaksSeenTwice = <S extends Snapshot>(earlier: Snapshot | null, now: S): S => {
  const before = new Set(earlier?.processes.filter(p => p.verdict === 'leak').map(p => keyOf(p.facts)));
  const findings = now.findings.filter(f => f.id !== 'leak' || f.processes.some(p => before.has(keyOf(p))));
  return findings.length === now.findings.length ? now : { ...now, findings };
};
