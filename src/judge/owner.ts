import { keyOf } from '../model/identity.ts';
import { isZombie } from '../model/process.ts';
import type { Owner } from '../model/snapshot.ts';
import { agentAbove, isRunningAgent, type Node, startedBefore } from './tree.ts';
import { nodeByKey, sessionIdOf, type World } from './world.ts';

/** How sure we are about an owner's fate. `uncertain` is evidence for a suspicion, never for a leak. */
export type Fate = 'alive' | 'dead' | 'uncertain';

export interface Ownership {
  readonly owner: Owner;
  readonly fate: Fate;
  readonly why: string;
}

type Evidence = (node: Node, world: World) => Ownership | null;

const owned = (agent: Node, world: World, how: Owner['how'], why: string): Ownership => ({
  owner: {
    pid: agent.facts.pid,
    start: agent.facts.start,
    sessionId: sessionIdOf(world, agent),
    how,
    alive: true,
  },
  fate: 'alive',
  why,
});

const calls = (agent: Node): string => `${agent.seen.name} (${agent.facts.pid})`;

const byAncestor: Evidence = (node, world) => {
  const agent = agentAbove(node);
  return agent === null ? null : owned(agent, world, 'ancestor', `runs below ${calls(agent)}`);
};

const byLineage: Evidence = (node, world) => {
  const entry = world.lineage.entryOf(keyOf(node.facts));
  if (entry === undefined) return null;
  const agent = nodeByKey(world, entry.owner);
  if (agent !== null && !isZombie(agent.facts))
    return owned(agent, world, 'lineage', `was seen below ${calls(agent)}`);
  const [pid, start] = entry.owner.split(':');
  return {
    owner: {
      pid: Number(pid),
      start: start ?? null,
      sessionId: entry.sessionId,
      how: 'lineage',
      alive: false,
    },
    fate: 'dead',
    why: `was seen below agent ${pid}, which has ended`,
  };
};

/** Who could have put these variables there: running Claude agents that started before the process. */
const olderClaudes = (node: Node, world: World): Node[] =>
  world.agents.filter(agent => agent.agent === 'claude' && agent !== node && startedBefore(agent, node));

const holdsSession = (agent: Node, id: string, world: World): boolean =>
  world.sessionOf(agent)?.sessionId === id || agent.seen.sessionIds.includes(id);

const byEnviron: Evidence = (node, world) => {
  const env = node.facts.env;
  const id = env?.CLAUDE_CODE_SESSION_ID ?? null;
  const claudePid = env?.CLAUDE_PID === undefined ? null : Number(env.CLAUDE_PID);
  if (env === null || (id === null && claudePid === null && env.CLAUDECODE === undefined)) return null;
  // A session that was restarted in place carries its own id: it does not own itself.
  if (id !== null && isRunningAgent(node) && holdsSession(node, id, world)) return null;

  const older = olderClaudes(node, world);
  const starter =
    older.find(agent => agent.facts.pid === claudePid) ??
    older.find(agent => id !== null && holdsSession(agent, id, world));
  if (starter !== undefined)
    return owned(starter, world, 'environ', `its environment names ${calls(starter)}`);

  const dead = {
    pid: Number.isInteger(claudePid) ? claudePid : null,
    start: null,
    sessionId: id,
    how: 'environ',
    alive: false,
  } as const;
  const who =
    id === null ? (claudePid === null ? 'a Claude session' : `claude ${claudePid}`) : `Claude session ${id}`;
  // With CLAUDECODE alone, any older Claude may be the owner; with an id, only one that never registered (`/clear` changes ids).
  const rivals =
    id === null && claudePid === null ? older : older.filter(agent => world.sessionOf(agent) === null);
  const rival = rivals[0];
  if (rival === undefined) return { owner: dead, fate: 'dead', why: `started by ${who}, which has ended` };
  if (id === null && claudePid === null) return null;
  return {
    owner: dead,
    fate: 'uncertain',
    why: `started by ${who}, which is not running, but ${calls(rival)} has told nobody its session`,
  };
};

/** Something of an agent's kind in the pane where exactly one agent runs. */
const byPane: Evidence = (node, world) => {
  if (node.kind === 'other' || node.kind === 'shell' || node.kind === 'agent' || node.kind === 'tmux')
    return null;
  const climb = world.climb(node);
  if (climb.end !== 'pane' || climb.pane === null) return null;
  const { pane } = climb;
  const neighbours = world.agents.filter(agent => {
    const end = world.climb(agent);
    return end.end === 'pane' && end.pane === pane;
  });
  const [agent, second] = neighbours;
  return agent === undefined || second !== undefined
    ? null
    : owned(agent, world, 'tmux', `shares tmux pane ${pane.session}:${pane.pane} with ${calls(agent)}`);
};

const byRegistry: Evidence = (node, world) =>
  isRunningAgent(node) && world.sessionOf(node) !== null
    ? owned(node, world, 'registry', "is in Claude's list of running sessions")
    : null;

/** Strongest first. */
const EVIDENCE: readonly Evidence[] = [byAncestor, byLineage, byEnviron, byPane, byRegistry];

export const ownershipOf = (node: Node, world: World): Ownership | null => {
  for (const evidence of EVIDENCE) {
    const found = evidence(node, world);
    if (found !== null) return found;
  }
  return null;
};

/** An agent that merely owns itself has nobody to answer for it. */
export const isOwnOwner = (node: Node, ownership: Ownership): boolean =>
  ownership.owner.pid === node.facts.pid;
