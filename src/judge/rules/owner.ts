import { keyOf } from '../../model/identity.ts';
import { isZombie } from '../../model/process.ts';
import { paneOf } from './climb.ts';
import { environOwners } from './environ-owner.ts';
import { pidsNamedBy, sessionsNamedBy, socketsNamedBy } from './marks.ts';
import { type Ownership, ownedBy } from './ownership.ts';
import { agentAbove, calls, isRunningAgent, type Node, nodeWithKey } from './tree.ts';
import type { World } from './world.ts';

type Evidence = (node: Node, world: World) => readonly Ownership[];

const NOTHING: readonly Ownership[] = [];

const byAncestor: Evidence = (node, world) => {
  const agent = agentAbove(node);
  if (agent === null || !mayOwn(agent, node, world)) return NOTHING;
  return [ownedBy(agent, world, 'ancestor', `runs below ${calls(agent)}`)];
};

/** Supervisors and shared daemons belong to nobody, and no session belongs to them. */
const mayOwn = (agent: Node, node: Node, world: World): boolean =>
  !isRunningAgent(node) || (world.isSession(node) && world.isSession(agent));

const byLineage: Evidence = (node, world) => {
  const entry = world.lineage.entryOf(keyOf(node.facts));
  if (entry === undefined) return NOTHING;
  const agent = nodeWithKey(world.tree, entry.owner);
  if (agent === node) return NOTHING; // a line that nobody saw: no process is below itself
  if (agent !== null && !isZombie(agent.facts))
    return [ownedBy(agent, world, 'lineage', `was seen below ${calls(agent)}`)];
  const [pid, start] = entry.owner.split(':');
  const owner = {
    pid: Number(pid),
    start: start ?? null,
    sessionId: entry.sessionId,
    how: 'lineage',
    alive: false,
  } as const;
  // Whatever it is called by now: it runs.
  const now = world.processAt(Number(pid));
  if (now !== undefined && now.start === start && !isZombie(now))
    return [
      { owner: { ...owner, alive: true }, fate: 'alive', why: `was seen below process ${pid}, which runs` },
    ];
  // An agent that we may no longer read has not therefore ended.
  if (now?.unreadable === true)
    return [{ owner, fate: 'uncertain', why: `was seen below ${pid}, which can no longer be read` }];
  // Who took over its work would stand in a file that we do not understand.
  const [strange] = world.strangeFiles;
  return strange === undefined
    ? [{ owner, fate: 'dead', why: `was seen below ${pid}, which has ended` }]
    : [
        {
          owner,
          fate: 'uncertain',
          why: `was seen below ${pid}, but ${strange} is in a format that reaptop does not know`,
        },
      ];
};

/** Whose work another session took over: by a fork, in a spare, or by listening where its owner listened. */
const byContinuation: Evidence = (node, world) => {
  const { adopterOf, listenerOn, successorOf } = world.continued;
  const listener = socketsNamedBy(node).map(listenerOn).find(isAnother(node));
  if (listener !== undefined)
    return [ownedBy(listener, world, 'continued', `its environment names the socket of ${calls(listener)}`)];
  const seen = world.lineage.entryOf(keyOf(node.facts));
  const ids = [...sessionsNamedBy(node), ...(seen?.sessionId == null ? [] : [seen.sessionId])];
  const pids = [...pidsNamedBy(node), ...(seen === undefined ? [] : [Number.parseInt(seen.owner, 10)])];
  const adopter = [...ids.map(adopterOf), ...pids.map(successorOf)].find(isAnother(node));
  return adopter === undefined
    ? NOTHING
    : [ownedBy(adopter, world, 'continued', `its session was taken over by ${calls(adopter)}`)];
};

const isAnother =
  (node: Node) =>
  (found: Node | null): found is Node =>
    found !== null && found !== node;

/** In a tmux server that an agent kept for its team, and that nobody looks at: the team's owner is that agent. */
const byLead: Evidence = (node, world) => {
  const climb = world.climb(node);
  if (climb.end !== 'orphan-root' || climb.lead === undefined) return NOTHING;
  const { lead } = climb;
  const owner = { pid: lead, start: null, sessionId: null, how: 'tmux', alive: false } as const;
  return [{ owner, fate: 'dead', why: `runs for the team of claude ${lead}, which has ended` }];
};

/** Something of an agent's kind in the pane where exactly one agent runs. */
const byPane: Evidence = (node, world) => {
  if (node.kind === 'other' || node.kind === 'shell' || node.kind === 'agent' || node.kind === 'tmux')
    return NOTHING;
  const pane = paneOf(world.climb(node));
  if (pane === null) return NOTHING;
  const [agent, second] = world.agents.filter(other => paneOf(world.climb(other)) === pane);
  return agent === undefined || second !== undefined
    ? NOTHING
    : [ownedBy(agent, world, 'tmux', `shares tmux pane ${pane.session}:${pane.pane} with ${calls(agent)}`)];
};

/** Strongest first. */
const EVIDENCE: readonly Evidence[] = [byAncestor, byLineage, environOwners, byContinuation, byPane, byLead];

/**
 * What all the evidence together says, none of which knows a live owner. Dead is whoever nothing speaks for.
 * Having been seen below an agent tells which one it was: what merely could not be found, or could be any of several,
 * does not outweigh that.
 */
const combined = (told: readonly Ownership[]): Ownership | null => {
  const dead = told.find(({ fate }) => fate === 'dead');
  const seen = dead?.owner.how === 'lineage';
  const doubt =
    told.find(({ fate }) => fate === 'uncertain' || (fate === 'unproven' && !seen)) ??
    told.find(({ fate }) => fate === 'undecided' && !seen);
  if (dead === undefined || doubt === undefined) return dead ?? doubt ?? null;
  return { owner: dead.owner, fate: 'uncertain', why: `${dead.why}, but ${doubt.why}` };
};

/** An agent in Claude's own list answers for itself, where nobody else does. */
const registered = (node: Node, world: World): Ownership | null =>
  isRunningAgent(node) && world.sessionOf(node) !== null
    ? ownedBy(node, world, 'registry', "is in Claude's list of running sessions")
    : null;

/** A live owner by any evidence decides. */
export const ownershipOf = (node: Node, world: World): Ownership | null => {
  const told: Ownership[] = [];
  for (const evidence of EVIDENCE) {
    const found = evidence(node, world);
    const alive = found.find(({ fate }) => fate === 'alive');
    if (alive !== undefined) return alive;
    told.push(...found);
  }
  return resumed(combined(told), world) ?? registered(node, world);
};

/** Somebody may have gone on with the session of a dead owner, without what that one left running. */
const resumed = (ownership: Ownership | null, world: World): Ownership | null => {
  if (ownership?.fate !== 'dead') return ownership;
  const id = ownership.owner.sessionId;
  const by = id === null ? null : world.continued.resumedBy(id);
  return by === null
    ? ownership
    : { ...ownership, resumedBy: calls(by), why: `${ownership.why}; ${calls(by)} resumed its session` };
};

/** Who answers for it: an agent that merely owns itself has nobody. */
export const foreignTo = (node: Node, ownership: Ownership | null): Ownership | null =>
  ownership === null || ownership.owner.pid === node.facts.pid ? null : ownership;
