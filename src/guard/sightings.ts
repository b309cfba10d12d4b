import { type Ground, groundOf } from '../judge/plan/branches.ts';
import { leakRoots } from '../judge/plan/clean.ts';
import { leakPolicy } from '../judge/plan/index.ts';
import { type IdentityKey, keyOf } from '../model/identity.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';

interface Sighting {
  /** Seconds of a monotonic clock. */
  readonly since: number;
  readonly why: string;
}

const POLICY = leakPolicy('guard');

const groundFrom = (snapshot: Snapshot): Ground => groundOf({ snapshot, lineageMembers: () => [] });

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

  /** Some leak has been there so long. */
  anyFor(seconds: number, at: number): boolean {
    return [...this.#roots.values()].some(({ since }) => at - since >= seconds);
  }

  /**
   * The snapshot with every leak weakened whose root was not seen so long. Members of a confirmed root count with it:
   * a leaked loop starts a new `sleep` every second.
   */
  confirm<S extends Snapshot>(snapshot: S, seconds: number, at: number): S {
    const ground = groundFrom(snapshot);
    const confirmed = new Set<JudgedProcess>();
    for (const root of leakRoots(ground, POLICY)) {
      const known = this.#roots.get(keyOf(root.facts));
      if (known === undefined || at - known.since < seconds) continue;
      for (const member of ground.family.subtreeOf(root)) confirmed.add(member);
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
