import { plural } from '../model/format.ts';
import { type Identity, keyOf } from '../model/identity.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../model/snapshot.ts';

/** What is below a leaked agent is leaked with it; that many at once may be a mistake of ours all the same. */
const MOST_AT_ONCE = 10;

/** An owner as a process names it: environ knows no start time. */
export interface NamedOwner {
  readonly pid: number;
  readonly start: string | null;
}

export const ownerKey = ({ pid, start }: NamedOwner): string => `${pid}:${start ?? ''}`;

interface Turned {
  /** Processes that were live at one sample and leaked at the next, with the owner they name. */
  readonly leaked: readonly { readonly p: JudgedProcess; readonly owner: NamedOwner }[];
  /** Agents of the earlier sample, when the later one recognises none at all. */
  readonly lost: readonly Identity[];
}

const turnedBetween = (before: Snapshot, now: Snapshot): Turned => {
  const earlier = new Map(before.processes.map(p => [keyOf(p.facts), p]));
  const leaked = now.processes.flatMap(p => {
    const was = p.verdict === 'leak' ? earlier.get(keyOf(p.facts)) : undefined;
    const owner = was?.verdict === 'live' ? (namedBy(was) ?? namedBy(p)) : null;
    return owner === null ? [] : [{ p, owner }];
  });
  const agents = before.processes.filter(p => p.isSession).map(identityOf);
  return { leaked, lost: now.processes.some(p => p.isSession) ? [] : agents };
};

const namedBy = ({ owner }: JudgedProcess): NamedOwner | null =>
  owner === null || owner.pid === null ? null : { pid: owner.pid, start: owner.start };

/** Whose presence `whyHold` needs to know. */
export const ownersInDoubt = (before: Snapshot, now: Snapshot): readonly NamedOwner[] => {
  const { leaked, lost } = turnedBetween(before, now);
  const all = [...leaked.map(({ owner }) => owner), ...lost];
  return [...new Map(all.map(owner => [ownerKey(owner), owner])).values()];
};

/** Agents that are still recognised and are leaked themselves: what is below them follows them. */
const leakedAgents = ({ processes }: Snapshot): ReadonlySet<number> =>
  new Set(processes.filter(p => p.kind === 'agent' && p.verdict === 'leak').map(p => p.facts.pid));

/**
 * Why guard must wait for a person; null when it need not. After an update an agent may look different to us: then
 * everything below it seems leaked, while it runs. A crash does not look like that: the agent is gone.
 */
export const whyHold = (before: Snapshot, now: Snapshot, running: ReadonlySet<string>): string | null => {
  const { leaked, lost } = turnedBetween(before, now);
  const doubtful = leaked.filter(({ owner }) => running.has(ownerKey(owner)));
  const followers = leakedAgents(now);
  const unexplained = doubtful.filter(({ owner }) => !followers.has(owner.pid));
  const count = doubtful.length >= MOST_AT_ONCE ? doubtful.length : unexplained.length;
  if (count > 0)
    return `${plural(count, 'process', 'processes')} turned from live to leaked while ${count === 1 ? 'its owner' : 'their owners'} still run${count === 1 ? 's' : ''}: reaptop may no longer recognise ${count === 1 ? 'that agent' : 'these agents'}`;
  const unrecognised = lost.filter(agent => running.has(ownerKey(agent)));
  return unrecognised.length === 0
    ? null
    : `no agent is recognised any more, while ${plural(unrecognised.length, 'process', 'processes')} that ${unrecognised.length === 1 ? 'was one' : 'were agents'} still run${unrecognised.length === 1 ? 's' : ''} (${unrecognised
        .slice(0, 3)
        .map(({ pid }) => pid)
        .join(', ')})`;
};
