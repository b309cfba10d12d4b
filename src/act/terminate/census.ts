import { pushTo, selfAndAncestors } from '../../model/forest.ts';
import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { Self } from '../../model/observation.ts';
import type { ProcessFacts } from '../../model/process.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import type { System } from '../../observe/system.ts';

/** One process as an act sees it: facts, and why it must not be touched when judging says so. */
export interface Sighting {
  readonly facts: ProcessFacts;
  readonly name: string;
  readonly protection: 'hard' | 'soft' | null;
  readonly protectedBecause: string | null;
  /** Orphans are handed to it, and it reaps them. */
  readonly adopts: boolean;
}

/** The process table at one moment of a run. */
export interface Census {
  readonly byPid: ReadonlyMap<number, Sighting>;
  readonly keys: ReadonlySet<IdentityKey>;
  readonly children: ReadonlyMap<number, readonly Sighting[]>;
  readonly self: Self | null;
  /** Reaptop and its ancestors. */
  readonly selfLine: ReadonlySet<number>;
  readonly clock: number;
  /** What the verdicts are from; null where there are only facts. */
  readonly judged: Snapshot | null;
}

/** `resample` judges again, so that newcomers are protected like the rest; without it there are only facts. */
export const takeCensus = async (system: System, resample?: () => Promise<Snapshot>): Promise<Census> => {
  if (resample === undefined) {
    const look = await system.sample();
    return arrange(look.processes.map(unjudged), look, null);
  }
  const snapshot = await resample();
  const sightings = snapshot.processes.map(p => ({
    facts: p.facts,
    name: p.name,
    protection: p.protection,
    protectedBecause: p.protectedBecause,
    adopts: p.facts.pid === 1 || p.seen.adoptsOrphans || p.seen.role === 'tmux-server',
  }));
  return arrange(sightings, snapshot, snapshot);
};

/** Who reaps orphans, by name alone: only used when no judged snapshot is at hand. */
const REAPERS = /^(systemd|launchd|init|tini|dumb-init|Relay\(\d+\))$/;

const unjudged = (facts: ProcessFacts): Sighting => ({
  facts,
  name: facts.comm,
  protection: null,
  protectedBecause: null,
  adopts: facts.pid === 1 || REAPERS.test(facts.comm),
});

const arrange = (
  sightings: readonly Sighting[],
  { self, clock }: { readonly self: Self | null; readonly clock: number },
  judged: Snapshot | null,
): Census => {
  const byPid = new Map(sightings.map(s => [s.facts.pid, s]));
  const children = new Map<number, Sighting[]>();
  for (const s of sightings) if (s.facts.ppid !== null) pushTo(children, s.facts.ppid, s);
  const selfLine = selfAndAncestors(self?.pid || null, pid => byPid.get(pid)?.facts.ppid || null);
  const keys = new Set(sightings.map(s => keyOf(s.facts)));
  return { byPid, keys, children, self, selfLine, clock, judged };
};
