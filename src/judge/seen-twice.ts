import type { Finding } from '../model/finding.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import type { JudgedProcess, Snapshot, Verdict } from '../model/snapshot.ts';
import { leakFinding, leakGroups } from './findings/leak.ts';
import { leakRoots } from './plan/clean.ts';
import { leakPolicy, type PlanContext, planContext } from './plan/compose.ts';

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

/** For a screen that goes on sampling: a leak is part of a finding from its second sighting on. */
export const withLeaksSeenTwice = <S extends Snapshot>(earlier: Snapshot | null, now: S): S => {
  const twice = new Set(
    earlier === null
      ? []
      : confirmedBy(earlier, now)
          .processes.filter(p => p.verdict === 'leak')
          .map(p => keyOf(p.facts)),
  );
  let same = true;
  const findings = now.findings.flatMap((finding): readonly Finding[] => {
    const again = finding.id === 'leak' ? finding.processes.filter(p => twice.has(keyOf(p))) : null;
    if (again === null || again.length === finding.processes.length) return [finding];
    same = false;
    const keys = new Set(again.map(keyOf));
    return leakGroups(now.processes.filter(p => keys.has(keyOf(p.facts)))).map(group =>
      leakFinding(group, finding.severity),
    );
  });
  return same ? now : { ...now, findings };
};

interface Sighting {
  /** Seconds of a monotonic clock. */
  readonly since: number;
  readonly why: string;
}

const POLICY = leakPolicy('guard');

const groundFrom = (snapshot: Snapshot): PlanContext => planContext({ snapshot, lineageMembers: () => [] });

/**
 * Since when each leak has been seen, without a look in between that thought better of it: the same root, for the same
 * reasons. A leak that is gone for one look, or is leaked for another reason, is seen for the first time again.
 */
export class Sightings {
  #roots: ReadonlyMap<IdentityKey, Sighting> = new Map();

  note(snapshot: Snapshot, at: number): void {
    const before = this.#roots;
    this.#roots = new Map(
      leakRoots(groundFrom(snapshot), POLICY).map(root => {
        const why = root.why.join('\n');
        const known = before.get(keyOf(root.facts));
        // A clock that went back proves nothing about the time between.
        const since = known?.why === why && known.since <= at ? known.since : at;
        return [keyOf(root.facts), { since, why }];
      }),
    );
  }

  /** Nothing that was seen so far counts: the machine slept, or a look failed. */
  forget(): void {
    this.#roots = new Map();
  }

  /** Some leak has been seen for this long. */
  anyFor(seconds: number, at: number): boolean {
    return [...this.#roots.values()].some(({ since }) => at - since >= seconds);
  }

  /**
   * The snapshot with every leak weakened whose root was not seen for this long. Members of a confirmed root count with it:
   * a leaked loop starts a new `sleep` every second.
   */
  confirm<S extends Snapshot>(snapshot: S, seconds: number, at: number): S {
    const context = groundFrom(snapshot);
    const confirmed = new Set<JudgedProcess>();
    for (const root of leakRoots(context, POLICY)) {
      const known = this.#roots.get(keyOf(root.facts));
      if (known === undefined || at - known.since < seconds) continue;
      for (const member of context.family.subtreeOf(root)) confirmed.add(member);
    }
    const confirm = (p: JudgedProcess): JudgedProcess =>
      p.verdict !== 'leak' || confirmed.has(p)
        ? p
        : {
            ...p,
            verdict: 'unknown',
            why: [`not seen as a leak for ${seconds} s yet: ${p.why[0] ?? 'no reason known'}`],
          };
    return { ...snapshot, processes: snapshot.processes.map(confirm) };
  }
}
