import { fromBelow, subtreeOf } from '../../model/forest.ts';
import { type Kind, mayProve } from '../../model/kind.ts';
import type { Observation } from '../../model/observation.ts';
import { isZombie, type Use, userRelation } from '../../model/process.ts';
import type { Doubt } from '../../model/snapshot.ts';
import type { AgentRecords } from './agent-records.ts';
import type { Climb } from './climb.ts';
import { ownScopeOf } from './declared-services.ts';
import { isServerNode } from './effective-kind.ts';
import { MOST_BETWEEN, namedAbove, namedBy } from './environment-marks.ts';
import { agentAbove, isRunningAgent, type Node, nodeLabel } from './tree.ts';

/** What speaks for a subtree: which process of it, and what that one does. */
interface Finding extends Omit<Doubt, 'why'> {
  readonly of: Node;
  readonly does: string;
}

type Reason = Finding | null;

/** An agent or a job that wrote something within this time has not been forgotten by its work. */
const RECENT_MS = 10 * 60 * 1000;
/** Clocks of files and machine may differ by so much; what lies further ahead was not written by a clock. */
const SKEW_MS = 60 * 1000;
/** What a program prints while it starts says nothing about whether it works. */
const START_SECONDS = 5;

/**
 * What speaks against ending a process of which it is proven that its owner has ended, or that its conversation is over.
 * Each is asked of a whole subtree, and unknown speaks against it: what was not seen is not absent.
 */
export const doubtsOf = (
  observation: Observation,
  records: AgentRecords,
  climb: (node: Node) => Climb,
): ((node: Node) => Doubt | null) => {
  const unread = ofSubtrees(unreadOwnerOf(observation, climb));
  const inUse = ofSubtrees(useOf);
  const detached = ofSubtrees(detachmentOf(observation), isWork);
  const atWork = ofSubtrees(workOf(observation, records), isWork);
  const working = (node: Node): Reason => detached(node) ?? atWork(node);
  // A server is no work, but an agent or a build below it is.
  const workBelow = ofSubtrees(below =>
    (below.kind === 'agent' || below.kind === 'lake') && !isServerNode(below) ? working(below) : null,
  );
  const found = (node: Node): Reason =>
    unread(node) ?? inUse(node) ?? (isServerNode(node) ? workBelow(node) : working(node));
  return node => {
    const reason = found(node);
    if (reason === null) return null;
    const { of, does, ...doubt } = reason;
    return { ...doubt, why: of === node ? does : `${nodeLabel(of)} ${does}` };
  };
};

const because = (of: Node, does: string): Finding => ({ of, does });

/** What belongs to no agent by its words: below an ordinary program its environment is not asked for. */
const ORDINARY: ReadonlySet<Kind> = new Set(['other', 'shell', 'tmux']);

/** Without its user, its environment and its age nothing rules out an owner that lives. */
const unreadOwnerOf =
  ({ self }: Observation, climb: (node: Node) => Climb) =>
  (node: Node): Reason => {
    const { env, born, unreadable } = node.facts;
    if (unreadable || (self !== null && userRelation(node.facts, self.uid) === 'untold'))
      return because(node, 'belongs to a user that cannot be read');
    // What runs below an agent belongs to that agent, and what runs below an ordinary program to that.
    if (agentAbove(node) !== null || (ORDINARY.has(node.kind) && climb(node).end === 'stranger')) return null;
    if (env === null && !namesAsAround(node))
      return because(node, 'may have an owner: its environment cannot be read');
    return born === null ? because(node, 'may have an owner: when it started is not known') : null;
  };

/**
 * A sandbox's helper hides its environment from its own user. It was handed down through it: what stands above and below
 * it names the same sessions, all of it, and in a pid namespace of its own nothing is started from outside.
 */
const namesAsAround = (node: Node): boolean => {
  if (node.facts.details?.innerPid === undefined) return false;
  const named = namedAbove(node);
  if (named === '') return false;
  let level: readonly Node[] = [node];
  for (let step = 0; step < MOST_BETWEEN && level.length > 0; step += 1) {
    if (level.some(({ children }) => children.length === 0)) return false;
    const below = level.flatMap(({ children }) => children);
    if (below.some(child => child.facts.env !== null && namedBy(child) !== named)) return false;
    level = below.filter(child => child.facts.env === null);
  }
  return level.length === 0;
};

/** Asks a question of a subtree, each process once. Not by recursion: chains may be thousands long. */
const ofSubtrees = (
  ask: (node: Node) => Reason,
  mayEnter: (node: Node) => boolean = () => true,
): ((node: Node) => Reason) => {
  const known = new Map<Node, Reason>();
  return top => {
    const before = known.get(top);
    if (before !== undefined) return before;
    const pending = [...subtreeOf(top, below => below === top || (mayEnter(below) && !known.has(below)))];
    for (const node of pending.reverse()) {
      if (known.has(node)) continue;
      let reason = isZombie(node.facts) ? null : ask(node);
      for (const child of node.children) reason ??= known.get(child) ?? null;
      known.set(node, reason);
    }
    return known.get(top) ?? null;
  };
};

/** A stdio server may listen as well (for a login, for debugging), if its flags or our list say that it is one. */
const isSurelyStdio = ({ seen }: Node): boolean => seen.saysStdio && mayProve(seen.known);

/** Could clients need what it serves, whether or not one is connected now? */
const servesOthers = (node: Node): boolean => {
  if (node.kind === 'mcp') return !isSurelyStdio(node);
  return (node.kind === 'other' || node.kind === 'wrapper' || node.kind === 'shell') && !isServerNode(node);
};

const isHeadless = ({ facts, kind }: Node): boolean =>
  kind === 'browser' && (facts.argv ?? []).some(word => /^--?headless(?:$|=)/.test(word));

const USE_REASONS: Readonly<Record<Use['how'], (node: Node, what: string) => string | null>> = {
  'unix-listener': (node, what) =>
    node.kind !== 'mcp' && servesOthers(node) ? `listens on ${what}: it may be in use` : null,
  'unix-client': (_, what) => `has a client at ${what}`,
  'socket-pair': () => 'has a socket whose other end another process holds',
  window: node => (isHeadless(node) ? null : 'has a window'),
  device: (_, what) => `uses ${what}`,
  terminal: (_, what) => `holds ${what}, on which others run`,
  'on-terminal': (node, what) => (isServerNode(node) ? null : `is on ${what}, which is still open`),
};

/** Why a process is, or may be, in use from outside its own tree, by its descriptors. */
const useOf = (node: Node): Reason => {
  const { details, argv, pgid } = node.facts;
  if (details === null || argv === null || pgid === null) return because(node, 'could not be read');
  const { listening, uses, cgroup } = details;
  if (cgroup === null) return because(node, 'may be managed by a service: its cgroup cannot be read');
  if (listening === null) return because(node, 'may listen: its sockets cannot be read');
  const [port] = listening.ports;
  if (listening.clients > 0)
    return because(node, `listens on port ${port} with ${listening.clients} connected`);
  if (port !== undefined && servesOthers(node))
    return because(
      node,
      node.kind === 'mcp'
        ? `listens on port ${port}, and may serve more than stdio`
        : `listens on port ${port}: it may be in use`,
    );
  if (uses === null) return because(node, 'may be in use: its sockets cannot be read');
  for (const { how, what } of uses) {
    const reason = USE_REASONS[how](node, what);
    if (reason !== null) return because(node, reason);
  }
  return null;
};

/** Why it looks detached on purpose. */
const detachmentOf =
  ({ self }: Observation) =>
  (node: Node): Reason => {
    const ignores = node.facts.details?.ignoresHangup ?? null;
    if (ignores === null) return because(node, 'may be detached (nohup): its signals cannot be read');
    if (ignores) return because(node, 'ignores SIGHUP (nohup): detached on purpose');
    const scope = ownScopeOf(node, self);
    return scope === null ? null : because(node, `runs in ${scope}, a scope of its own`);
  };

/** Why it is still at work. */
const workOf =
  (observation: Observation, records: AgentRecords) =>
  (node: Node): Reason => {
    const { takenAt, clock } = observation;
    const working = (does: string): Finding => ({ of: node, does, atWork: true });
    const isRecent = (at: number): boolean => takenAt - at < RECENT_MS && takenAt - at > -SKEW_MS;
    const ago = (at: number): string => `${Math.max(0, Math.round((takenAt - at) / 1000))} s ago`;
    const { facts } = node;
    if (isRunningAgent(node)) {
      if (records.sessionOf(node)?.status === 'busy')
        return working('is at work: its session file says busy');
      if (records.hasUnclearStatus(node))
        return working('may be at work: its session file does not say whether it is busy');
      const sign = records.lastSignOf(node);
      if (sign !== null && isRecent(sign)) return working(`is at work: it wrote ${ago(sign)}`);
      // Its own CPU says nothing where its records do: an orphan that spins uses it for days.
      if (records.sessionOf(node) !== null || sign !== null) return null;
    }
    const written = facts.details?.outputAt;
    const started = facts.born === null ? null : takenAt - (clock - facts.born) * 1000;
    if (
      written !== undefined &&
      isRecent(written) &&
      (started === null || written > started + START_SECONDS * 1000)
    )
      return working(`is at work: its output was written ${ago(written)}`);
    const activity = facts.activity ?? null;
    if (activity === null)
      return { ...working('may be at work: that takes two samples a second apart'), unsampled: true };
    if (activity.cpu >= WORKING_CPU)
      return working(`is at work: it uses ${Math.round(activity.cpu)} % of a core`);
    return activity.bytes !== 0 ? working('is at work: it reads or writes') : null;
  };

/** Percent of a core between two samples. */
const WORKING_CPU = 1;
/** Percent of a core since its start: all that a single sample can tell. A build has hardly rested since. */
const WORKED_CPU = 50;

/** Servers move by themselves, and so does what they started: no sign of anybody's work. */
const SERVERS: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'browser']);

/** Not a server, nor the wrapper around one: it does a user's work. */
export const isWork = ({ kind, seen }: Node): boolean =>
  !SERVERS.has(kind) && !SERVERS.has(seen.wraps ?? 'other');

const hasWorked = ({ facts }: Pick<Node, 'facts'>, clock: number): boolean =>
  facts.cpuSeconds !== null &&
  facts.born !== null &&
  clock > facts.born &&
  (100 * facts.cpuSeconds) / (clock - facts.born) >= WORKED_CPU;

/** Something below an agent that is no server and uses the CPU: its build goes on while it is silent itself. */
export const worksThrough = ({ clock }: Pick<Observation, 'clock'>): ((agent: Node) => Node | null) => {
  const isBusy = ({ facts }: Node): boolean =>
    !isZombie(facts) && (facts.cpu === null ? hasWorked({ facts }, clock) : facts.cpu >= WORKING_CPU);
  const busyIn = fromBelow<Node, Node | null>((node, below) => {
    if (!isWork(node)) return null;
    return isBusy(node) ? node : (below.find(one => one !== null) ?? null);
  }, isWork);
  return agent => {
    for (const child of agent.children) {
      const busy = busyIn(child);
      if (busy !== null) return busy;
    }
    return null;
  };
};
