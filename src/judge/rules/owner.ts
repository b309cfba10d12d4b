import { keyOf } from '../../model/identity.ts';
import { isZombie } from '../../model/process.ts';
import { paneOf } from './climb.ts';
import { pidsNamedBy, sessionsNamedBy, socketsNamedBy } from './environment-marks.ts';
import { environOwners } from './environment-owner.ts';
import { agentName } from './lineage.ts';
import { type OwnerEvidence, ownedBy } from './owner-evidence.ts';
import { agentAbove, isRunningAgent, type Node, nodeLabel, nodeWithKey } from './tree.ts';
import type { VerdictContext } from './verdict-context.ts';

type OwnerRule = (node: Node, context: VerdictContext) => readonly OwnerEvidence[];

const NOTHING: readonly OwnerEvidence[] = [];

const byAncestor: OwnerRule = (node, context) => {
  const agent = agentAbove(node);
  if (agent === null || !mayOwn(agent, node, context)) return NOTHING;
  return [ownedBy(agent, context, 'ancestor', `runs below ${nodeLabel(agent)}`)];
};

/** Supervisors and shared daemons have no owner, and own no session. */
const mayOwn = (agent: Node, node: Node, context: VerdictContext): boolean =>
  !isRunningAgent(node) || (context.isSession(node) && context.isSession(agent));

const byLineage: OwnerRule = (node, context) => {
  const entry = context.lineage.entryOf(keyOf(node.facts));
  if (entry === undefined) return NOTHING;
  const agent = nodeWithKey(context.tree, entry.owner);
  if (agent === node) return NOTHING; // an impossible line: no process is below itself
  if (agent !== null && !isZombie(agent.facts))
    return [ownedBy(agent, context, 'lineage', `child of ${nodeLabel(agent)}, which runs`)];
  const who = agentName(entry);
  const [pid, start] = entry.owner.split(':');
  const owner = {
    pid: Number(pid),
    start: start ?? null,
    sessionId: entry.sessionId,
    how: 'lineage',
    alive: false,
    ...(entry.project == null ? {} : { project: entry.project }),
  } as const;
  // Whatever it is called by now: it runs.
  const now = context.processAt(Number(pid));
  if (now !== undefined && now.start === start && !isZombie(now))
    return [{ owner: { ...owner, alive: true }, fate: 'alive', why: `child of ${who}, which runs` }];
  // An agent that we may no longer read has not therefore ended.
  if (now?.unreadable === true)
    return [{ owner, fate: 'uncertain', why: `child of ${who}, which can no longer be read` }];
  // Who took over its work would stand in a file that we do not understand.
  const [strange] = context.strangeFiles;
  return strange === undefined
    ? [{ owner, fate: 'dead', why: `child of ${who}, which has ended` }]
    : [
        {
          owner,
          fate: 'uncertain',
          why: `child of ${who}, but the format of ${strange} is unknown`,
        },
      ];
};

/** Whose work another session took over: by a fork, in a spare, or by listening where its owner listened. */
const byContinuation: OwnerRule = (node, context) => {
  const { adopterOf, listenerOn, successorOf } = context.continued;
  const listener = socketsNamedBy(node).map(listenerOn).find(isAnother(node));
  if (listener !== undefined)
    return [
      ownedBy(listener, context, 'continued', `its environment names the socket of ${nodeLabel(listener)}`),
    ];
  const seen = context.lineage.entryOf(keyOf(node.facts));
  const ids = [...sessionsNamedBy(node), ...(seen?.sessionId == null ? [] : [seen.sessionId])];
  const pids = [...pidsNamedBy(node), ...(seen === undefined ? [] : [Number.parseInt(seen.owner, 10)])];
  const adopter = [...ids.map(adopterOf), ...pids.map(successorOf)].find(isAnother(node));
  return adopter === undefined
    ? NOTHING
    : [ownedBy(adopter, context, 'continued', `its session was taken over by ${nodeLabel(adopter)}`)];
};

const isAnother =
  (node: Node) =>
  (found: Node | null): found is Node =>
    found !== null && found !== node;

/** In a tmux server that an agent kept for its team, without a client: the team's owner is that agent. */
const byLead: OwnerRule = (node, context) => {
  const climb = context.climb(node);
  if (climb.end !== 'orphan-root' || climb.lead === undefined) return NOTHING;
  const { lead } = climb;
  const owner = { pid: lead, start: null, sessionId: null, how: 'tmux', alive: false } as const;
  return [{ owner, fate: 'dead', why: `runs for the team of claude ${lead}, which has ended` }];
};

/** Something of an agent's kind in the pane where exactly one agent runs. */
const byPane: OwnerRule = (node, context) => {
  if (node.kind === 'other' || node.kind === 'shell' || node.kind === 'agent' || node.kind === 'tmux')
    return NOTHING;
  const pane = paneOf(context.climb(node));
  if (pane === null) return NOTHING;
  const [agent, second] = context.agents.filter(other => paneOf(context.climb(other)) === pane);
  return agent === undefined || second !== undefined
    ? NOTHING
    : [
        ownedBy(
          agent,
          context,
          'tmux',
          `shares tmux pane ${pane.session}:${pane.pane} with ${nodeLabel(agent)}`,
        ),
      ];
};

/** Strongest first. */
const OWNER_RULES: readonly OwnerRule[] = [
  byAncestor,
  byLineage,
  environOwners,
  byContinuation,
  byPane,
  byLead,
];

/**
 * What all the evidence together says, none of which knows a live owner. Dead is whoever nothing speaks for.
 * Having been seen below an agent tells which one it was: what merely could not be found, or could be any of several,
 * does not outweigh that.
 */
const combined = (told: readonly OwnerEvidence[]): OwnerEvidence | null => {
  const dead = told.find(({ fate }) => fate === 'dead');
  const seen = dead?.owner.how === 'lineage';
  const doubt =
    told.find(({ fate }) => fate === 'uncertain' || (fate === 'unproven' && !seen)) ??
    told.find(({ fate }) => fate === 'undecided' && !seen);
  if (dead === undefined || doubt === undefined) return dead ?? doubt ?? null;
  return { owner: dead.owner, fate: 'uncertain', why: `${dead.why}, but ${doubt.why}` };
};

/** An agent in Claude's own list owns itself where it has no other owner. */
const registered = (node: Node, context: VerdictContext): OwnerEvidence | null =>
  isRunningAgent(node) && context.sessionOf(node) !== null
    ? ownedBy(node, context, 'registry', "is in Claude's list of running sessions")
    : null;

/** A live owner by any evidence decides. */
export const ownershipOf = (node: Node, context: VerdictContext): OwnerEvidence | null => {
  const told: OwnerEvidence[] = [];
  for (const evidence of OWNER_RULES) {
    const found = evidence(node, context);
    const alive = found.find(({ fate }) => fate === 'alive');
    if (alive !== undefined) return alive;
    told.push(...found);
  }
  return resumed(combined(told), context) ?? registered(node, context);
};

/** Another process may have continued the session of a dead owner, without what that one left running. */
const resumed = (ownership: OwnerEvidence | null, context: VerdictContext): OwnerEvidence | null => {
  if (ownership?.fate !== 'dead') return ownership;
  const id = ownership.owner.sessionId;
  const by = id === null ? null : context.continued.resumedBy(id);
  return by === null
    ? ownership
    : {
        ...ownership,
        resumedBy: nodeLabel(by),
        why: `${ownership.why}; ${nodeLabel(by)} resumed its session`,
      };
};

/** Its owner: an agent that merely owns itself has none. */
export const foreignTo = (node: Node, ownership: OwnerEvidence | null): OwnerEvidence | null =>
  ownership === null || ownership.owner.pid === node.facts.pid ? null : ownership;
