import { keyOf } from '../../model/identity.ts';
import type { SignalName, Step } from '../../model/plan.ts';
import { belonging, isZombie, memoryOf, type ProcessFacts } from '../../model/process.ts';
import type { Census, Sighting } from './census.ts';
import { isTracked, type Run, settle, type Tracked, track } from './run.ts';

/** Births are counted in ticks of 10 ms on Linux, in whole seconds of `etime` elsewhere. */
const BIRTH_SLACK_SECONDS = { procfs: 0.02, portable: 2, recorded: 0, demo: 0 } as const;

/**
 * Takes along what members of the plan started meanwhile. Nothing that existed when the run began
 * can join, except as a child of a member: a stranger must never be mistaken for a newcomer.
 */
export const joinNewcomers = async (run: Run, now: Census, signal: SignalName): Promise<Tracked[]> => {
  const joined: Tracked[] = [];
  for (let grown = true; grown; ) {
    grown = false;
    for (const sighting of now.byPid.values()) {
      if (isTracked(run, sighting.facts) || isZombie(sighting.facts)) continue;
      const member = await relationOf(run, now, sighting);
      if (member === null) continue;
      const tracked = admit(run, now, sighting, member, signal);
      if (tracked.outcome === null) joined.push(tracked);
      grown = true;
    }
  }
  return joined;
};

/** The member it belongs to; null when that is not certain. */
const relationOf = async (run: Run, now: Census, { facts }: Sighting): Promise<Tracked | null> => {
  const parent = facts.ppid === null ? undefined : run.byPid.get(facts.ppid);
  if (parent?.outcome === null && parent.diedAt === null && (await holdsItsPid(run, parent.step)))
    return parent;
  if (run.before.keys.has(keyOf(facts))) return null;
  // Tables read in slices may be seconds old: ask again who the parent is.
  const presence = await run.system.presence(facts.pid);
  if (presence.status !== 'present' || presence.identity.start !== facts.start) return null;
  if (presence.ppid === null || now.byPid.get(presence.ppid)?.adopts !== true) return null;
  if (facts.born === null || facts.born < run.before.clock - BIRTH_SLACK_SECONDS[run.system.backend])
    return null;
  for (const member of run.tracked.values())
    if (inGroupOf(facts, member, now, run) || isTwinOf(facts, member, run)) return member;
  return null;
};

/**
 * The member still holds its pid, and so held it when the table was read: the child is its child.
 * Had it died, the pid could have been reused by a stranger with children of its own.
 */
export const holdsItsPid = async (run: Run, step: Step): Promise<boolean> => {
  const presence = await run.system.presence(step.pid);
  return presence.status === 'present' && presence.identity.start === step.start && !isZombie(presence);
};

/** Born in a process group or session that a member founded. The kernel does not reuse the number while one is left in it. */
const inGroupOf = (facts: ProcessFacts, { step, facts: member }: Tracked, now: Census, run: Run): boolean => {
  const founder = now.byPid.get(step.pid);
  if (founder !== undefined && !isTracked(run, founder.facts)) return false;
  const ledGroup = member.pgid === step.pid && facts.pgid === step.pid;
  const ledSession = member.sid === step.pid && facts.sid === step.pid;
  return (ledGroup || ledSession) && facts.pid !== step.pid;
};

/**
 * Restarted by a member that died right after: the same words in the same process group and session
 * as one that was ended, below a parent that was to be ended too.
 */
const isTwinOf = (facts: ProcessFacts, { facts: member, sent }: Tracked, run: Run): boolean =>
  sent !== null &&
  member.ppid !== null &&
  run.byPid.get(member.ppid)?.sent != null &&
  member.argv !== null &&
  facts.argv !== null &&
  member.argv.length === facts.argv.length &&
  member.argv.every((word, index) => word === facts.argv?.[index]) &&
  member.pgid === facts.pgid &&
  member.sid === facts.sid &&
  member.pgid !== null;

const admit = (run: Run, now: Census, sighting: Sighting, member: Tracked, signal: SignalName): Tracked => {
  const { facts, name } = sighting;
  const step: Step = {
    pid: facts.pid,
    start: facts.start,
    name,
    command: facts.argv?.join(' ') ?? facts.comm,
    signal,
    rss: memoryOf(facts),
    ageSeconds: null,
    why: `started by ${member.step.pid} ${member.step.name} while that was being ended`,
    root: member.step.root,
    stopped: facts.state === 'T',
    confirm: false,
  };
  const tracked = track(run, step, facts);
  const why = mustStay(sighting, now);
  if (why === null) run.onProgress({ type: 'join', step });
  else settle(run, tracked, 'refused', why);
  return tracked;
};

/** Why a process that no plan has looked at must not be signalled; null when it may. */
export const mustStay = ({ facts, protection, protectedBecause }: Sighting, now: Census): string | null => {
  if (protection !== null) return protectedBecause ?? 'it is protected';
  if (facts.pid <= 2 || facts.kernelThread || now.selfLine.has(facts.pid)) return 'it is protected';
  if (facts.unreadable || belonging(facts, now.self?.uid) !== 'ours') return 'it belongs to another user';
  if (facts.pgid !== null && facts.pgid === now.self?.pgid) return "it is in reaptop's own process group";
  return null;
};
