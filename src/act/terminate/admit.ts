import { type IdentityKey, keyOf } from '../../model/identity.ts';
import type { Outcome, Plan, Step } from '../../model/plan.ts';
import { isZombie, memoryOf } from '../../model/process.ts';
import type { Presence } from '../../observe/system.ts';
import type { Census, Sighting } from './census.ts';
import { holdsItsPid, mustStay } from './newcomers.ts';
import { outcomeOf, type Run, type Tracked, track } from './run.ts';
import { presencesOf } from './watch.ts';

/**
 * Sets a plan against the table as it is now, before the first signal: what is gone is said to be
 * gone, what has become protected keeps its whole subtree, what was started since the plan comes along.
 * Returns what to signal, in order.
 */
export const begin = async (
  run: Run,
  plan: Plan,
  confirmed: ReadonlySet<IdentityKey>,
): Promise<{ readonly order: readonly Tracked[]; readonly outcomes: readonly Outcome[] }> => {
  const { before } = run;
  // The table may be seconds old for processes nobody follows: what counts is what is there now.
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
    if (sighting === undefined) continue;
    const started = startedSince(step, before, planned);
    if (started.length > 0 && !(await holdsItsPid(run, step))) continue;
    newcomers.set(keyOf(step), started);
    for (const { sighting: newcomer } of started) {
      const reason = mustStay(newcomer, before);
      if (reason !== null)
        keep(keptRoots, root, `${newcomer.facts.pid} ${newcomer.name} is in it: ${reason}`);
    }
  }

  const order: Tracked[] = [];
  for (const step of plan.steps) {
    const sighting = sightingOf(step);
    const kept = keptRoots.get(keyOf(step.root));
    if (sighting === undefined) outcomes.push(outcomeOf(step, 'gone', goneWhy(present.get(step.pid))));
    else if (isZombie(sighting.facts))
      outcomes.push(outcomeOf(step, 'gone', 'it had ended before, and waits to be reaped'));
    else if (kept !== undefined) outcomes.push(outcomeOf(step, 'refused', kept));
    else {
      for (const { sighting: newcomer, step: extra } of newcomers.get(keyOf(step)) ?? []) {
        if (run.tracked.has(keyOf(extra))) continue;
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
    ? 'it had ended before, and its pid names another process now: nothing was sent'
    : 'it had ended before';

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
      return `the protected ${step.pid} ${step.name} was not confirmed by its pid`;
    if (sighting.protection === 'soft') return mustStay({ ...sighting, protection: null }, before);
  }
  const why = mustStay(sighting, before);
  return why === null ? null : `${step.pid} ${step.name} may not be ended now: ${why}`;
};

/** Descendants that the plan does not know, deepest first. */
const startedSince = (
  step: Step,
  census: Census,
  planned: ReadonlySet<IdentityKey>,
): readonly { readonly sighting: Sighting; readonly step: Step }[] => {
  const found = new Set<Sighting>();
  const add = (pid: number): void => {
    for (const child of census.children.get(pid) ?? [])
      if (!planned.has(keyOf(child.facts)) && !isZombie(child.facts) && !found.has(child)) {
        found.add(child);
        add(child.facts.pid);
      }
  };
  add(step.pid);
  return [...found].reverse().map(sighting => ({
    sighting,
    step: {
      pid: sighting.facts.pid,
      start: sighting.facts.start,
      name: sighting.name,
      command: sighting.facts.argv?.join(' ') ?? sighting.facts.comm,
      signal: step.signal,
      rss: memoryOf(sighting.facts),
      ageSeconds: null,
      why: `started below ${step.pid} ${step.name} after the plan was made`,
      root: step.root,
      stopped: sighting.facts.state === 'T',
      confirm: false,
    },
  }));
};
