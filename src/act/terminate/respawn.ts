import { keyOf } from '../../model/identity.ts';
import type { ProcessFacts } from '../../model/process.ts';
import type { Census, Sighting } from './census.ts';
import { noteUnproven } from './links.ts';
import { isTracked, settle, stopReason, type TerminateRun, type Tracked } from './tracked.ts';

/** A supervisor that starts a server again does so within this time (manual verdicts, The safety rules, 5). */
const RESPAWN_MS = 2000;
/** A whole run is to be over within the grace and two seconds; the rest of those goes to the last look. */
const BEYOND_GRACE_MS = 1600;

/**
 * Looks for servers that are started again. They are reported with their supervisor and left
 * alone: killing them again would only go round in circles.
 */
export const noteRespawns = async (
  run: TerminateRun,
  census: () => Promise<Census | null>,
): Promise<void> => {
  const suspects = [...run.tracked.values()].filter(t => t.diedAt !== null && hasOutsideParent(run, t));
  if (suspects.length === 0) return;
  const taken = new Set<string>();
  let first: Census | null = null;
  for (let delay = 40; ; delay = Math.min(delay * 2, 640)) {
    const now = await census();
    if (now === null) return;
    first ??= now;
    for (const t of suspects) {
      if (t.outcome?.outcome === 'respawned') continue;
      const again = findAgain(run, now, t, taken);
      if (again === null) continue;
      taken.add(keyOf(again.facts));
      // An adopter may have taken in what a member forked while it lived: only what came later was started by it.
      if (hasAdopter(run, t) && first.keys.has(keyOf(again.facts))) {
        noteUnproven(run, again.facts, t);
        continue;
      }
      const supervisor = now.byPid.get(t.facts.ppid ?? 0);
      settle(
        run,
        t,
        'respawned',
        `${t.facts.ppid} ${supervisor?.name ?? 'its parent'} started it again as ${again.facts.pid}: end or stop that one instead`,
      );
    }
    // Orphan roots rarely restart anything; only a parent of its own is worth the wait.
    const awaited = suspects.filter(t => t.outcome?.outcome !== 'respawned' && !hasAdopter(run, t));
    const until = Math.max(0, ...awaited.map(t => (t.diedAt ?? 0) + RESPAWN_MS));
    const latest = run.startedAt + run.graceMs + BEYOND_GRACE_MS;
    const left = Math.min(until, latest, run.deadlineAt) - run.clock.now();
    if (left <= 0 || stopReason(run) !== null) return;
    await run.clock.wait(Math.min(delay, left), run.abort);
  }
};

const hasOutsideParent = (run: TerminateRun, { facts }: Tracked): boolean => {
  const parent = facts.ppid === null ? undefined : run.before.byPid.get(facts.ppid);
  return parent !== undefined && !isTracked(run, parent.facts);
};

/** Its parent takes in orphans, and need not have started any of its children. */
const hasAdopter = (run: TerminateRun, { facts }: Tracked): boolean =>
  run.before.byPid.get(facts.ppid ?? 0)?.adopts === true;

/** Orphans of everybody have an adopter as their parent: there, only the same agent's marks tell whose one is. */
const hasTheMarksOf = (child: ProcessFacts, facts: ProcessFacts): boolean => {
  const { env } = facts;
  const marks = Object.keys(env ?? {}) as (keyof NonNullable<ProcessFacts['env']>)[];
  return marks.length > 0 && marks.every(name => child.env?.[name] === env?.[name]);
};

/** Same words, new identity, same parent. */
const findAgain = (
  run: TerminateRun,
  now: Census,
  { facts }: Tracked,
  taken: ReadonlySet<string>,
): Sighting | null => {
  const parent = run.before.byPid.get(facts.ppid ?? 0);
  if (facts.argv === null || now.byPid.get(facts.ppid ?? 0)?.facts.start !== parent?.facts.start) return null;
  const words = JSON.stringify(facts.argv);
  for (const child of now.children.get(facts.ppid ?? 0) ?? []) {
    const key = keyOf(child.facts);
    if (run.before.keys.has(key) || run.tracked.has(key) || taken.has(key)) continue;
    if (JSON.stringify(child.facts.argv) !== words) continue;
    if (parent?.adopts === false || hasTheMarksOf(child.facts, facts)) return child;
  }
  return null;
};
