import { EVIDENCE } from '../../agents/families.ts';
import type { Evidence } from '../../agents/family-type.ts';
import { ancestorsOf } from '../../model/forest.ts';
import { isZombie } from '../../model/process.ts';
import { carriesMarks, pidIn, SHOWN_ID, variableOf } from './environment-marks.ts';
import { type OwnerEvidence, ownedBy } from './owner-evidence.ts';
import { isRunningAgent, type Node, nodeLabel, startedAfter } from './tree.ts';
import type { VerdictContext } from './verdict-context.ts';

/**
 * A tmux server, a user manager or a container's PID 1 that was started from an agent's shell hands that agent's
 * environment to all that it starts, wanted or not: the variables then say nothing about who started the process.
 */
const handedDownBy = (node: Node, { marks }: Evidence, context: VerdictContext): Node | null => {
  const { uid } = context.observation.self ?? {};
  /** Its environment cannot be read. PID 1 and other users' were not started from an agent's shell. */
  const mayCarry = ({ facts }: Node): boolean =>
    facts.env === null && facts.pid !== 1 && (facts.uid === null || facts.uid === uid);
  const carriesSame = (other: Node): boolean =>
    marks.every(name => other.facts.env?.[name] === node.facts.env?.[name]);
  for (const up of ancestorsOf(node)) {
    const adopter = up.seen.role === 'tmux-server' || up.seen.adoptsOrphans || up.facts.pid === 1;
    if (adopter && (carriesSame(up) || mayCarry(up))) return up;
  }
  // What was started in a terminal or an editor outlives its shell there.
  return (
    context.openedByAgents.find(other => other !== node && (mayCarry(other) || carriesSame(other))) ?? null
  );
};

const holdsSession = (agent: Node, ids: readonly string[], context: VerdictContext): boolean =>
  ids.some(id => context.sessionOf(agent)?.sessionId === id || agent.seen.sessionIds.includes(id));

/** One that does not look like an agent, but is named by its pid or lists itself under one of these ids. */
const unlikelyOwner = (
  family: Evidence,
  node: Node,
  { pid, ids }: { readonly pid: number | null; readonly ids: readonly string[] },
  context: VerdictContext,
): Node | undefined =>
  context.unlikelyOwners.find(
    owner =>
      owner !== node &&
      (owner.seen.agent === family.agent || (family.registers && context.sessionOf(owner) !== null)) &&
      !startedAfter(owner, node) &&
      (owner.facts.pid === pid || holdsSession(owner, ids, context)),
  );

/**
 * Why marks that name no process do not prove that the owner has ended; null when they do. Programs that we do not know
 * set the same marks, so only a family whose sessions list themselves can be missed.
 */
const possibleOwner = (
  family: Evidence,
  ids: readonly string[],
  older: readonly Node[],
  context: VerdictContext,
): string | null => {
  const [any] = older.filter(context.isSession);
  if (!family.registers || ids.length === 0)
    return any === undefined
      ? `${family.title} keeps no list of running sessions`
      : `${nodeLabel(any)} could be it`;
  // `/clear` changes ids: a running session that never registered may be the one.
  const silent = older.find(agent => context.isSession(agent) && context.sessionOf(agent) === null);
  return silent === undefined ? null : `${nodeLabel(silent)} has no session file and could be it`;
};

/**
 * What runs at the pid that a mark names. `running`: a process that is not younger, whatever it is called. `unknown`: the
 * number may be of another pid namespace, as in a container or a sandbox.
 */
const namedProcess = (pid: number, node: Node, context: VerdictContext): 'running' | 'gone' | 'unknown' => {
  const { host } = context.observation;
  const found = context.processAt(pid);
  if (
    found !== undefined &&
    pid !== node.facts.pid &&
    !isZombie(found) &&
    !startedAfter({ facts: found }, node)
  )
    return 'running';
  const details = node.facts.details;
  return host.container || details === null || details.innerPid !== undefined ? 'unknown' : 'gone';
};

/** What the marks of one family say about the owner; null when there are none, or when they prove nothing. */
const namedBy = (family: Evidence, node: Node, context: VerdictContext): OwnerEvidence | null => {
  if (!carriesMarks(node, family)) return null;
  const ids = family.sessionIds.flatMap(name => variableOf(node, name) ?? []);
  const pid = pidIn(variableOf(node, family.ownerPid));
  // Who could have put these variables there: running agents that are not known to have started later.
  const older = context.agents.filter(
    agent => agent.agent === family.agent && agent !== node && !startedAfter(agent, node),
  );
  const named = older.find(agent => agent.facts.pid === pid);
  // A session that was restarted in place carries its own id: it does not own itself.
  const carriesItself = isRunningAgent(node) && (pid === node.facts.pid || holdsSession(node, ids, context));
  if (named === undefined && carriesItself) return null;
  const starter =
    named ??
    older.find(agent => holdsSession(agent, ids, context)) ??
    unlikelyOwner(family, node, { pid, ids }, context);
  if (starter !== undefined)
    return ownedBy(starter, context, 'environ', `its environment names ${nodeLabel(starter)}`);

  // A process in a pane or an editor got its environment from there, whatever became of the agent.
  const { end } = context.climb(node);
  return end === 'pane' || end === 'anchor' ? null : withoutAgent(family, node, { pid, ids, older }, context);
};

export interface Named {
  readonly pid: number | null;
  readonly ids: readonly string[];
  /** Running agents of the family that are not known to have started later. */
  readonly older: readonly Node[];
}

/** What marks say of which no running agent is the owner. */
const withoutAgent = (
  family: Evidence,
  node: Node,
  { pid, ids, older }: Named,
  context: VerdictContext,
): OwnerEvidence => {
  const [id = null] = ids;
  const running = pid === null ? null : namedProcess(pid, node, context);
  const owner = { pid, start: null, sessionId: id, how: 'environ', alive: running === 'running' } as const;
  if (running === 'running')
    return { owner, fate: 'alive', why: `its environment names process ${pid}, which runs` };

  const who =
    id !== null
      ? `${family.title} session ${id.slice(0, SHOWN_ID)}`
      : pid !== null
        ? `${family.agent} ${pid}`
        : `a session of ${family.title}`;
  const source = handedDownBy(node, family, context);
  if (source !== null)
    return {
      owner,
      fate: 'unproven',
      why: `may have inherited the environment of ${who} from ${nodeLabel(source)}`,
    };
  if (id === null && pid === null) {
    const any = older.find(context.isSession);
    if (any !== undefined) {
      const why = `started by ${who}, perhaps by ${nodeLabel(any)}`;
      return { owner: { ...owner, alive: true }, fate: 'undecided', why };
    }
  }
  const [strange] = family.registers ? context.strangeFiles : [];
  if (strange !== undefined)
    return {
      owner,
      fate: 'uncertain',
      why: `started by ${who}, but the format of ${strange} is unknown`,
    };
  const hidden = family.registers
    ? context.observation.sessions.find(
        session => ids.includes(session.sessionId) && context.processAt(session.pid)?.unreadable === true,
      )
    : undefined;
  if (hidden !== undefined)
    return {
      owner,
      fate: 'uncertain',
      why: `started by ${who}, whose process ${hidden.pid} can no longer be read`,
    };
  if (running === 'unknown')
    return {
      owner,
      fate: 'unproven',
      why: `started by ${who}, but its pid may belong to another pid namespace`,
    };
  // A pid names the owner itself; an id only what the owner was called then.
  const doubt = pid === null ? possibleOwner(family, ids, older, context) : null;
  return doubt === null
    ? { owner, fate: 'dead', why: `started by ${who}, which has ended` }
    : { owner, fate: 'unproven', why: `started by ${who}, which looks ended, but ${doubt}` };
};

/** One answer per family whose marks the process carries: codex started from claude's shell leaves both. */
export const environOwners = (node: Node, context: VerdictContext): OwnerEvidence[] =>
  node.facts.env === null ? [] : EVIDENCE.flatMap(family => namedBy(family, node, context) ?? []);
