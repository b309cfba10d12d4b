import { plural } from '../model/format.ts';
import { type Identity, type IdentityKey, keyOf } from '../model/identity.ts';
import { identityOf, type JudgedProcess, type Snapshot } from '../model/snapshot.ts';

/** One agent that crashes leaves some; that many at once below agents that run is a mistake of ours. */
const MOST_AT_ONCE = 10;

interface Turned {
  /** Processes that were live at one look and leaked at the next, with the agent they had. */
  readonly leaked: readonly { readonly p: JudgedProcess; readonly agent: Identity }[];
  /** Agents of the earlier look, when the later one recognises none at all. */
  readonly lost: readonly Identity[];
}

const turnedBetween = (before: Snapshot, now: Snapshot): Turned => {
  const earlier = new Map(before.processes.map(p => [keyOf(p.facts), p]));
  const leaked = now.processes.flatMap(p => {
    const was = p.verdict === 'leak' ? earlier.get(keyOf(p.facts)) : undefined;
    const agent = was?.verdict === 'live' ? agentOf(was) : null;
    return agent === null ? [] : [{ p, agent }];
  });
  const agents = before.processes.filter(p => p.isSession).map(identityOf);
  return { leaked, lost: now.processes.some(p => p.isSession) ? [] : agents };
};

const agentOf = ({ owner }: JudgedProcess): Identity | null =>
  owner === null || owner.pid === null || owner.start === null
    ? null
    : { pid: owner.pid, start: owner.start };

/** Whose presence `whyHold` needs to know. */
export const agentsInDoubt = (before: Snapshot, now: Snapshot): readonly Identity[] => {
  const { leaked, lost } = turnedBetween(before, now);
  const all = [...leaked.map(({ agent }) => agent), ...lost];
  return [...new Map(all.map(agent => [keyOf(agent), agent])).values()];
};

/**
 * Why guard must wait for a person; null when it need not. After an update an agent may look different to us: then
 * everything below it seems leaked, while it runs. A crash does not look like that: the agent is gone.
 */
export const whyHold = (
  before: Snapshot,
  now: Snapshot,
  running: ReadonlySet<IdentityKey>,
): string | null => {
  const { leaked, lost } = turnedBetween(before, now);
  const doubtful = leaked.filter(({ agent }) => running.has(keyOf(agent)));
  if (doubtful.length >= MOST_AT_ONCE)
    return `${doubtful.length} processes turned from live to leaked at once while their agents still run: reaptop may no longer recognise these agents`;
  const unrecognised = lost.filter(agent => running.has(keyOf(agent)));
  return unrecognised.length === 0
    ? null
    : `no agent is recognised any more, while ${plural(unrecognised.length, 'process', 'processes')} that ${unrecognised.length === 1 ? 'was one' : 'were agents'} still run${unrecognised.length === 1 ? 's' : ''} (${unrecognised
        .slice(0, 3)
        .map(({ pid }) => pid)
        .join(', ')})`;
};
