import { keyOf } from '../../model/identity.ts';
import { type EnvName, isZombie } from '../../model/process.ts';
import type { Owner } from '../../model/snapshot.ts';
import { agentAbove, ancestorsOf, isRunningAgent, type Node, nodeWithKey, startedAfter } from './tree.ts';
import { sessionIdOf, type World } from './world.ts';

/**
 * How sure we are about an owner's fate. `uncertain` is evidence for a suspicion, never for a leak;
 * `undecided` is none at all: any of several running agents may be the owner.
 */
export type Fate = 'alive' | 'dead' | 'uncertain' | 'undecided';

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
  const agent = nodeWithKey(world.tree, entry.owner);
  if (agent !== null && !isZombie(agent.facts))
    return owned(agent, world, 'lineage', `was seen below ${calls(agent)}`);
  const [pid, start] = entry.owner.split(':');
  const owner = {
    pid: Number(pid),
    start: start ?? null,
    sessionId: entry.sessionId,
    how: 'lineage',
    alive: false,
  } as const;
  // An agent that we may no longer read has not therefore ended.
  return world.tree.byPid.get(Number(pid))?.facts.unreadable === true
    ? { owner, fate: 'uncertain', why: `was seen below agent ${pid}, which can no longer be read` }
    : { owner, fate: 'dead', why: `was seen below agent ${pid}, which has ended` };
};

/** Who could have put these variables there: running Claude agents that are not known to have started later. */
const olderClaudes = (node: Node, world: World): Node[] =>
  world.agents.filter(agent => agent.agent === 'claude' && agent !== node && !startedAfter(agent, node));

const MARKS = ['CLAUDE_CODE_SESSION_ID', 'CLAUDE_PID', 'CLAUDECODE'] as const satisfies readonly EnvName[];

/**
 * A tmux server, a user manager or a container's PID 1 that was started from an agent's shell hands that agent's
 * environment to all that it starts, wanted or not: the variables then say nothing about who started the process.
 */
const handedDownBy = (node: Node): Node | null => {
  for (const up of ancestorsOf(node)) {
    const adopter = up.seen.role === 'tmux-server' || up.seen.adoptsOrphans || up.facts.pid === 1;
    if (
      adopter &&
      up.facts.env !== null &&
      MARKS.every(name => up.facts.env?.[name] === node.facts.env?.[name])
    )
      return up;
  }
  return null;
};

const holdsSession = (agent: Node, id: string, world: World): boolean =>
  world.sessionOf(agent)?.sessionId === id || agent.seen.sessionIds.includes(id);

/** As many characters of a session's id as git shows of a commit's: enough to tell two apart. */
const SHOWN_ID = 8;

const pidIn = (text: string | undefined): number | null =>
  text !== undefined && /^[1-9]\d{0,9}$/.test(text) ? Number(text) : null;

const byEnviron: Evidence = (node, world) => {
  const env = node.facts.env;
  const id = env?.CLAUDE_CODE_SESSION_ID ?? null;
  const claudePid = pidIn(env?.CLAUDE_PID);
  if (env === null || (id === null && claudePid === null && env.CLAUDECODE === undefined)) return null;
  // A session that was restarted in place carries its own id: it does not own itself.
  if (id !== null && isRunningAgent(node) && holdsSession(node, id, world)) return null;

  const older = olderClaudes(node, world);
  const starter =
    older.find(agent => agent.facts.pid === claudePid) ??
    older.find(agent => id !== null && holdsSession(agent, id, world));
  if (starter !== undefined)
    return owned(starter, world, 'environ', `its environment names ${calls(starter)}`);

  // Whoever sits in a pane or an editor got its environment from there, whatever has become of the agent.
  const { end } = world.climb(node);
  if (end === 'pane' || end === 'anchor') return null;

  const dead = {
    pid: claudePid,
    start: null,
    sessionId: id,
    how: 'environ',
    alive: false,
  } as const;
  const uncertain = (why: string): Ownership => ({ owner: dead, fate: 'uncertain', why });
  const who =
    id === null
      ? claudePid === null
        ? 'a Claude session'
        : `claude ${claudePid}`
      : `Claude session ${id.slice(0, SHOWN_ID)}`;
  const source = handedDownBy(node);
  if (source !== null) return uncertain(`got the environment of ${who} from ${calls(source)}`);
  if (id === null && claudePid === null && older[0] !== undefined) {
    const why = `started by a Claude session, perhaps by ${calls(older[0])}`;
    return { owner: { ...dead, alive: true }, fate: 'undecided', why };
  }
  // `/clear` changes ids: a running Claude that never registered may be the one.
  const silent = older.find(agent => world.sessionOf(agent) === null);
  return silent === undefined
    ? { owner: dead, fate: 'dead', why: `started by ${who}, which has ended` }
    : uncertain(`started by ${who}, which is not running, but ${calls(silent)} has told nobody its session`);
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
