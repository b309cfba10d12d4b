import { whyNeverAsleep } from '../agents/resume.ts';
import { forestOf } from '../model/forest.ts';
import type { PressureFacts } from '../model/health.ts';
import { type Identity, type IdentityKey, keyOf } from '../model/identity.ts';
import { memoryOf } from '../model/process.ts';
import { type JudgedProcess, label, type Snapshot, sessionName } from '../model/snapshot.ts';
import { formatAge } from '../model/units.ts';

/** Share of the last minute in which some process waited for memory, in percent. */
const MOST_WAITED = 10;
/** Share of memory that is still to be had. */
const LEAST_AVAILABLE = 0.1;

/** Why memory is short; null: it is not, or that is not known. */
export const whyShort = ({ waited, level, memTotal, memAvailable }: PressureFacts): string | null => {
  if (waited !== null && waited >= MOST_WAITED)
    return `processes waited for memory ${Math.round(waited)} % of the last minute`;
  if (level === 'warn' || level === 'critical') return `the system reports memory pressure: ${level}`;
  if (memTotal === null || memAvailable === null || memTotal <= 0) return null;
  const share = memAvailable / memTotal;
  return share < LEAST_AVAILABLE ? `${Math.floor(100 * share)} % of memory is available` : null;
};

/** Who was used a moment ago is about to be used again. */
export const PRESSED_IDLE_SECONDS = 600;

/** The idle session that gives back most for what it is missed: the longest idle and largest. */
const sleeperIn = (snapshot: Snapshot, resting: ReadonlySet<IdentityKey>): JudgedProcess | null => {
  const forest = forestOf(snapshot.processes, p => p.facts);
  const worth = (p: JudgedProcess): number =>
    (p.session?.seconds ?? 0) * forest.subtreeOf(p).reduce((sum, member) => sum + memoryOf(member.facts), 0);
  const idle = snapshot.processes.filter(
    p =>
      p.isSession &&
      p.session?.doing === 'idle' &&
      p.session.unfinished === null &&
      (p.session.seconds ?? 0) >= PRESSED_IDLE_SECONDS &&
      p.protection === null &&
      whyNeverAsleep(p.agent) === null &&
      !resting.has(keyOf(p.facts)),
  );
  return idle.length === 0 ? null : idle.reduce((best, p) => (worth(p) > worth(best) ? p : best));
};

/** Which session is put to sleep next while memory is short, and since when that has been said. One at a time. */
export class Pressed {
  #next: { readonly identity: Identity; readonly since: number } | null = null;

  /** Takes a sample; returns a warning when it names another session than before. */
  note(
    snapshot: Snapshot,
    facts: PressureFacts,
    resting: ReadonlySet<IdentityKey>,
    at: number,
  ): string | null {
    const why = whyShort(facts);
    const sleeper = why === null ? null : sleeperIn(snapshot, resting);
    if (sleeper === null) {
      this.#next = null;
      return null;
    }
    const { pid, start } = sleeper.facts;
    // The one that was warned stays the next, as long as it may be.
    if (this.#next !== null && this.#isStill(snapshot, resting)) return null;
    this.#next = { identity: { pid, start }, since: at };
    const { session } = sleeper;
    const name = session === null ? '' : ` ${sessionName(session)}`;
    return `memory is short (${why}): ${label(sleeper)}${name}, idle ${formatAge(session?.seconds ?? null)}`;
  }

  #isStill(snapshot: Snapshot, resting: ReadonlySet<IdentityKey>): boolean {
    const key = keyOf(this.#next!.identity);
    const p = snapshot.processes.find(one => keyOf(one.facts) === key);
    return p?.session?.doing === 'idle' && p.session.unfinished === null && !resting.has(key);
  }

  /** The session whose warning is that old. */
  due(seconds: number, at: number): Identity | null {
    return this.#next !== null && at - this.#next.since >= seconds ? this.#next.identity : null;
  }

  forget(): void {
    this.#next = null;
  }
}
