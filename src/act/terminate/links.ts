import { type Identity, keyOf, sameIdentity } from '../../model/identity.ts';
import { isZombie, type ProcessFacts } from '../../model/process.ts';
import { nameAndPid } from '../../model/snapshot.ts';
import type { Presence } from '../../observe/system.ts';
import { isTracked, type TerminateRun, type Tracked } from './tracked.ts';

/** Births are counted in ticks of 10 ms on Linux, in the whole seconds of `lstart` elsewhere. */
const BIRTH_SLACK_SECONDS = { procfs: 0.02, darwin: 1, portable: 2, recorded: 0, demo: 0 } as const;

/**
 * Notes which processes members of the plan have started, as long as there is proof: the table says whom to ask
 * about, what is asked right then decides. A number proves nothing by itself: its holder may be gone, and a
 * stranger may have got it since.
 */
export const noteLinks = async (run: TerminateRun, processes: readonly ProcessFacts[]): Promise<void> => {
  for (let grown = true; grown; ) {
    grown = false;
    for (const facts of processes) {
      const key = keyOf(facts);
      if (isTracked(run, facts) || run.links.has(key) || run.spared.has(key) || isZombie(facts)) continue;
      const member = await linkOf(run, facts);
      if (member === null) continue;
      run.links.set(key, { facts, member });
      grown = true;
    }
  }
};

const linkOf = async (run: TerminateRun, facts: ProcessFacts): Promise<Tracked | null> => {
  const fathers = holdersOf(run, facts.ppid);
  const founders = isNewborn(run, facts) ? foundersOf(run, facts) : [];
  if (fathers.length + founders.length === 0) return null;
  // Tables read in slices may be seconds old.
  const now = await run.system.presence(facts.pid);
  if (now.status !== 'present' || now.identity.start !== facts.start || isZombie(now)) return null;
  for (const father of fathers)
    if (now.ppid === father.identity.pid && (await holdsItsPid(run, father.identity))) return father.member;
  // Only orphans: what has a parent of its own belongs to that one.
  if (founders.length === 0 || run.before.byPid.get(now.ppid ?? 0)?.adopts !== true) return null;
  for (const founder of founders)
    for (const circle of CIRCLES)
      if (now[circle] === founder.step.pid && (await isUnbroken(run, circle, founder))) return founder;
  noteUnproven(run, facts, founders[0]!);
  return null;
};

const CIRCLES = ['pgid', 'sid'] as const;
type Circle = (typeof CIRCLES)[number];

const isNewborn = (run: TerminateRun, facts: ProcessFacts): boolean =>
  !run.before.keys.has(keyOf(facts)) &&
  facts.born !== null &&
  facts.born >= run.before.clock - BIRTH_SLACK_SECONDS[run.system.backend];

/** Members, and what is linked to them, that have or had this pid. */
const holdersOf = (
  run: TerminateRun,
  pid: number | null,
): readonly { readonly identity: Identity; readonly member: Tracked }[] => {
  if (pid === null) return [];
  const tracked = run.byPid.get(pid);
  const links = [...run.links.values()].filter(link => link.facts.pid === pid);
  return [
    ...(tracked === undefined || tracked.outcome !== null
      ? []
      : [{ identity: tracked.step, member: tracked }]),
    ...links.map(({ facts, member }) => ({ identity: facts, member })),
  ];
};

/** Members that lead the group or session whose number this process carries. */
const foundersOf = (run: TerminateRun, facts: ProcessFacts): readonly Tracked[] =>
  [facts.pgid, facts.sid].flatMap(number => {
    const founder = number === null || number === facts.pid ? undefined : run.byPid.get(number);
    return founder !== undefined && CIRCLES.some(circle => founder.facts[circle] === number) ? [founder] : [];
  });

/**
 * The group (or session) that a member founded has had one of ours in it all the time: somebody who was in it when
 * the run began, or was proven to be in it when it joined, and is in it now. The kernel gives nobody a number while
 * a process carries it as its group or session, also one that has ended and waits to be reaped.
 */
const isUnbroken = async (run: TerminateRun, circle: Circle, founder: Tracked): Promise<boolean> => {
  const number = founder.step.pid;
  if (founder.facts[circle] !== number) return false;
  const ours = [...run.tracked.values(), ...run.links.values()].map(({ facts }) => facts);
  for (const facts of ours) {
    if (facts[circle] !== number) continue;
    const now = await run.system.presence(facts.pid);
    if (isStill(now, facts) && now[circle] === number) return true;
  }
  return false;
};

type Present = Extract<Presence, { status: 'present' }>;

const isStill = (now: Presence, identity: Identity): now is Present =>
  now.status === 'present' && sameIdentity(now.identity, identity);

/**
 * It still holds its pid, and so held it when its child was asked for its parent. Had it died, the pid could have been
 * reused by a stranger with children of its own.
 */
export const holdsItsPid = async (run: TerminateRun, identity: Identity): Promise<boolean> => {
  const now = await run.system.presence(identity.pid);
  return isStill(now, identity) && !isZombie(now);
};

/** One that fled in time cannot be distinguished from an unrelated process: it stays, and the user gets one warning. */
export const noteUnproven = (run: TerminateRun, facts: ProcessFacts, founder: Tracked): void => {
  const warning = `${nameAndPid(facts.comm, facts.pid)} may be a child of ${nameAndPid(founder.step.name, founder.step.pid)}, which ended before this could be checked: left alone`;
  if (!run.warnings.includes(warning)) run.warnings.push(warning);
};
