import { type Identity, type IdentityKey, keyOf, sameIdentity } from '../../model/identity.ts';
import type { Outcome, Plan, SignalName, Step } from '../../model/plan.ts';
import { isZombie, memoryOf, userRelation } from '../../model/process.ts';
import { nameAndPid } from '../../model/snapshot.ts';
import type { Presence } from '../../observe/system.ts';
import type { Census, Sighting } from './census.ts';
import { holdsItsPid, noteLinks } from './links.ts';
import { isTracked, outcomeFor, settle, type TerminateRun, type Tracked, track } from './tracked.ts';
import { presencesOf } from './wait-for-ends.ts';

interface Admission {
  /** Soft-protected identities whose pid the user typed. */
  readonly confirmed: ReadonlySet<IdentityKey>;
  /** Steps that are no longer what the plan was made for, and why. */
  readonly dropped: ReadonlyMap<IdentityKey, string>;
}

/**
 * Sets a plan against the table as it is now, before the first signal: what is gone is said to be
 * gone, what was dropped stays, what has become protected keeps its whole subtree, what was started since the plan
 * comes along.
 * Returns what to signal, in order.
 */
export const begin = async (
  run: TerminateRun,
  plan: Plan,
  { confirmed, dropped }: Admission,
): Promise<{ readonly order: readonly Tracked[]; readonly outcomes: readonly Outcome[] }> => {
  const { before } = run;
  // The table may be seconds old for processes that are not followed: what counts is what is there now.
  const present = await presencesOf(
    run.system,
    plan.steps.map(step => step.pid),
  );
  const sightingOf = (step: Step): Sighting | undefined => sightingNow(step, before, present.get(step.pid));
  const outcomes: Outcome[] = [];
  const planned = new Set(plan.steps.map(keyOf));
  const newcomers = new Map<IdentityKey, readonly { readonly sighting: Sighting; readonly step: Step }[]>();
  const keptRoots = new Map<IdentityKey, string>();

  for (const step of plan.steps) {
    const root = keyOf(step.root);
    const sighting = sightingOf(step);
    const why = sighting === undefined ? null : stays(step, sighting, before, confirmed);
    if (why !== null) keep(keptRoots, root, why);
    if (sighting === undefined || dropped.has(keyOf(step))) continue;
    const started = run.alone ? [] : await startedSince(run, step, planned);
    newcomers.set(keyOf(step), started);
    for (const { sighting: newcomer } of started) {
      const reason = mustStay(newcomer, before);
      if (reason !== null)
        keep(keptRoots, root, `${nameAndPid(newcomer.name, newcomer.facts.pid)} is in it: ${reason}`);
    }
  }

  const order: Tracked[] = [];
  for (const step of plan.steps) {
    const sighting = sightingOf(step);
    const kept = dropped.get(keyOf(step)) ?? keptRoots.get(keyOf(step.root));
    if (sighting === undefined) outcomes.push(outcomeFor(step, 'gone', goneWhy(present.get(step.pid))));
    else if (isZombie(sighting.facts))
      outcomes.push(outcomeFor(step, 'gone', 'it had already ended; its parent has not collected it'));
    else if (kept !== undefined) {
      run.spared.add(keyOf(step));
      outcomes.push(outcomeFor(step, 'refused', kept));
    } else {
      for (const { sighting: newcomer, step: extra } of newcomers.get(keyOf(step)) ?? []) {
        order.push(track(run, extra, newcomer.facts));
        run.onProgress({ type: 'join', step: extra });
      }
      order.push(track(run, step, sighting.facts));
    }
  }
  for (const outcome of outcomes) run.onProgress({ type: 'outcome', outcome });
  return { order, outcomes };
};

/** What the table knows of it, with what is there now on top; undefined when that identity is no more. */
const sightingNow = (step: Step, census: Census, presence: Presence | undefined): Sighting | undefined => {
  const listed = census.byPid.get(step.pid);
  if (listed?.facts.start !== step.start || presence === undefined || presence.status === 'gone')
    return undefined;
  if (presence.status === 'unreadable') return listed; // the signal itself asks again, and refuses
  if (presence.identity.start !== step.start) return undefined;
  return { ...listed, facts: { ...listed.facts, state: presence.state, ppid: presence.ppid } };
};

const goneWhy = (presence: Presence | undefined): string =>
  presence?.status === 'present'
    ? 'it had already ended, and its pid names another process now: nothing was sent'
    : 'it had already ended';

const keep = (roots: Map<IdentityKey, string>, root: IdentityKey, why: string): void => {
  if (!roots.has(root)) roots.set(root, `the whole subtree stays: ${why}`);
};

const stays = (
  step: Step,
  sighting: Sighting,
  before: Census,
  confirmed: ReadonlySet<IdentityKey>,
): string | null => {
  if (step.confirm) {
    if (!confirmed.has(keyOf(step)))
      return `the protected ${nameAndPid(step.name, step.pid)} was not confirmed by its pid`;
    if (sighting.protection === 'soft') return mustStay({ ...sighting, protection: null }, before);
  }
  const why = mustStay(sighting, before);
  return why === null ? null : `${nameAndPid(step.name, step.pid)} may not be ended now: ${why}`;
};

/** Descendants that the plan does not know, deepest first; each is asked who its parent is, and that one whether it lives. */
const startedSince = async (
  run: TerminateRun,
  step: Step,
  planned: ReadonlySet<IdentityKey>,
): Promise<readonly { readonly sighting: Sighting; readonly step: Step }[]> => {
  const found = new Set<Sighting>();
  const add = async (parent: Identity): Promise<void> => {
    for (const child of run.before.children.get(parent.pid) ?? []) {
      if (planned.has(keyOf(child.facts)) || isZombie(child.facts) || found.has(child)) continue;
      const now = await run.system.presence(child.facts.pid);
      if (now.status !== 'present' || !sameIdentity(now.identity, child.facts)) continue;
      if (now.ppid !== parent.pid || !(await holdsItsPid(run, parent))) continue;
      found.add(child);
      await add(child.facts);
    }
  };
  await add(step);
  const why = `started below ${nameAndPid(step.name, step.pid)} after the plan was made`;
  return [...found].reverse().map(sighting => ({
    sighting,
    step: stepOfNewcomer(sighting, { root: step.root, signal: step.signal, why }),
  }));
};

/** Takes along what members of the plan started meanwhile, as far as that is proven. */
export const joinNewcomers = async (
  run: TerminateRun,
  now: Census,
  signal: SignalName,
): Promise<Tracked[]> => {
  const sightings = [...now.byPid.values()];
  await noteLinks(
    run,
    sightings.map(({ facts }) => facts),
  );
  const joined: Tracked[] = [];
  for (const sighting of sightings) {
    const { facts } = sighting;
    const link = run.links.get(keyOf(facts));
    if (link === undefined || isTracked(run, facts) || isZombie(facts)) continue;
    const tracked = admit(run, now, sighting, link.member, signal);
    if (tracked.outcome === null) joined.push(tracked);
  }
  return joined;
};

const admit = (
  run: TerminateRun,
  now: Census,
  sighting: Sighting,
  member: Tracked,
  signal: SignalName,
): Tracked => {
  const why = `started by ${nameAndPid(member.step.name, member.step.pid)} while that was being ended`;
  const step = stepOfNewcomer(sighting, { root: member.step.root, signal, why });
  const tracked = track(run, step, sighting.facts);
  const stays = mustStay(sighting, now);
  if (stays === null) run.onProgress({ type: 'join', step });
  else settle(run, tracked, 'refused', stays);
  return tracked;
};

/** What the plan did not know. */
export const stepOfNewcomer = (
  { facts, name }: Sighting,
  { root, signal, why }: Pick<Step, 'root' | 'signal' | 'why'>,
): Step => ({
  pid: facts.pid,
  start: facts.start,
  name,
  command: facts.argv?.join(' ') ?? facts.comm,
  signal,
  rss: memoryOf(facts),
  ageSeconds: null,
  why,
  root,
  stopped: facts.state === 'T',
  confirm: false,
});

/** Why a process that no plan has looked at must not be signalled; null when it may. */
export const mustStay = ({ facts, protection, protectedBecause }: Sighting, now: Census): string | null => {
  if (protection !== null) return protectedBecause ?? 'it is protected';
  if (facts.pid <= 2 || facts.kernelThread || now.selfLine.has(facts.pid)) return 'it is protected';
  if (facts.unreadable || userRelation(facts, now.self?.uid) !== 'ours') return 'it belongs to another user';
  if (facts.pgid !== null && facts.pgid === now.self?.pgid) return "it is in reaptop's own process group";
  return null;
};
