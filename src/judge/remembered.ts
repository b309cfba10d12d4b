import { type RememberedSession, sessionKey, type WayBack } from '../model/asleep.ts';
import { forestOf } from '../model/forest.ts';
import { type Identity, sameIdentity } from '../model/identity.ts';
import { isZombie, memoryOf } from '../model/process.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { wayBackOf } from './plan/sleep.ts';

/** What a sample and the machine say of sessions that were seen before. */
export interface SessionFacts {
  /** Sessions that run now and have a way back. */
  readonly running: readonly WayBack[];
  readonly boot: string | null;
  readonly now: number;
  /** This very process runs; null: that cannot be told. */
  readonly isPresent: (identity: Identity) => boolean | null;
  /** Its agent's own record still stands: it takes that away when it ends by itself. */
  readonly leftRecord: (session: WayBack) => boolean;
  /** It ran when guard last looked. */
  readonly ranLast: (session: WayBack) => boolean;
  /** The kernel killed something for memory since the last sample. */
  readonly oomKilled: boolean;
}

/** What is to be written down: a session in a new state, or one that need not be remembered any more. */
export type SessionEvent = RememberedSession | (Pick<WayBack, 'agent' | 'id'> & { readonly state: 'gone' });

/** The running sessions of a sample that could be brought back. */
export const runningSessions = (snapshot: Snapshot): readonly WayBack[] => {
  const forest = forestOf(snapshot.processes, p => p.facts);
  return snapshot.processes.flatMap(p => {
    if (!p.isSession || isZombie(p.facts)) return [];
    const bytes = forest.subtreeOf(p).reduce((sum, member) => sum + memoryOf(member.facts), 0);
    return wayBackOf(p, snapshot, bytes) ?? [];
  });
};

/** Why a session that ran and runs no longer is lost; null: it ended as its user wanted, or that is not known. */
const whyLost = (session: RememberedSession, facts: SessionFacts): string | null => {
  const left = facts.leftRecord(session);
  if (session.boot !== null && facts.boot !== null && session.boot !== facts.boot)
    return left || facts.ranLast(session) ? 'the machine was restarted' : null;
  if (facts.oomKilled) return 'memory ran out, and the kernel killed something';
  return left ? 'it was killed, or crashed' : null;
};

/** An agent that is told to end has done so by then, and one that has not goes on. */
const ENDING_MS = 60_000;

/** What became of the sessions that were remembered, and which are new. */
export const sessionEvents = (
  remembered: readonly RememberedSession[],
  facts: SessionFacts,
): readonly SessionEvent[] => {
  const { running, now } = facts;
  const events: SessionEvent[] = [];
  const known = new Set(remembered.map(sessionKey));
  const byKey = new Map(running.map(way => [sessionKey(way), way]));
  for (const session of remembered) {
    const way = byKey.get(sessionKey(session));
    if (way !== undefined) {
      // It runs as it did, or was told to end a moment ago.
      const isSame = sameIdentity(way, session) && session.state !== 'lost';
      if (isSame && (session.state === 'running' || now - session.at < ENDING_MS)) continue;
      events.push({ ...way, state: 'running', at: now });
      continue;
    }
    if (session.state !== 'running') continue;
    const sameBoot = session.boot === null || facts.boot === null || session.boot === facts.boot;
    const present = sameBoot ? facts.isPresent(session) : false;
    const isOther = running.some(other => sameIdentity(other, session));
    if (present !== false && !isOther) continue;
    const why = isOther ? null : whyLost(session, facts);
    if (why === null) events.push({ agent: session.agent, id: session.id, state: 'gone' });
    else events.push({ ...session, state: 'lost', at: now, why });
  }
  for (const way of running)
    if (!known.has(sessionKey(way))) events.push({ ...way, state: 'running', at: now });
  return events;
};
