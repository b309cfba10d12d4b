import { keyOf } from '../../model/identity.ts';
import type { SignalName, Step } from '../../model/plan.ts';
import { belonging, isZombie, memoryOf } from '../../model/process.ts';
import { nameAndPid } from '../../words/process.ts';
import type { Census, Sighting } from './census.ts';
import { noteLinks } from './links.ts';
import { isTracked, type Run, settle, type Tracked, track } from './run.ts';

/** Takes along what members of the plan started meanwhile, as far as that is proven. */
export const joinNewcomers = async (run: Run, now: Census, signal: SignalName): Promise<Tracked[]> => {
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

const admit = (run: Run, now: Census, sighting: Sighting, member: Tracked, signal: SignalName): Tracked => {
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
  if (facts.unreadable || belonging(facts, now.self?.uid) !== 'ours') return 'it belongs to another user';
  if (facts.pgid !== null && facts.pgid === now.self?.pgid) return "it is in reaptop's own process group";
  return null;
};
