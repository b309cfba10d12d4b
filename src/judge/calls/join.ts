import { callLogOf } from '../../agents/call-logs.ts';
import type { Call, CallJoin, LoggedCall } from '../../model/call.ts';
import { subtreeOf } from '../../model/forest.ts';
import type { ConfiguredServer, Observation } from '../../model/observation.ts';
import { isZombie } from '../../model/process.ts';
import { type ConfiguredServers, indexServers } from '../recognise/configured.ts';
import { isServerNode } from '../rules/effective-kind.ts';
import { isRunningAgent, type Node, type Tree } from '../rules/tree.ts';

/** Agents write `_` for what may not be in the name of a tool; Codex for a dash, too. */
const plainName = (name: string): string => name.replace(/[^A-Za-z0-9]/g, '_').toLowerCase();

const indexes = new WeakMap<readonly ConfiguredServer[], ConfiguredServers | null>();

/** The servers are the same list until a configuration changes: they are indexed once. */
const indexOf = (servers: readonly ConfiguredServer[]): ConfiguredServers | null => {
  const known = indexes.get(servers);
  if (known !== undefined) return known;
  const index = indexServers(servers);
  indexes.set(servers, index);
  return index;
};

/** All sessions of a family whose daemon they share have their servers below that. */
const hostsOf = (agent: Node, tree: Tree | null): readonly Node[] =>
  agent.agent === 'codex' && tree !== null
    ? [agent, ...tree.nodes.filter(node => node.seen.role === 'codex-daemon' && !isZombie(node.facts))]
    : [agent];

/** Not into what another session runs, nor into what a command of its shell does. */
const isOwn = (below: Node): boolean => !isRunningAgent(below) && below.seen.role !== 'bash-tool';

interface Server {
  /** The topmost process: what is below it is ended with it. */
  readonly root: Node;
  readonly names: ReadonlySet<string>;
}

const serversOf = (agent: Node, observation: Observation, tree: Tree | null): readonly Server[] => {
  const index = indexOf(observation.servers);
  const roots = new Set<Node>();
  for (const host of hostsOf(agent, tree))
    for (const node of subtreeOf(host, isOwn)) {
      if (node === host || isZombie(node.facts) || !isServerNode(node)) continue;
      if (node.kind === 'browser' || isBelow(node, roots)) continue;
      roots.add(node);
    }
  return [...roots].map(root => ({
    root,
    names: new Set(
      [...subtreeOf(root)].flatMap(({ facts }) => index?.namesOf(facts.argv ?? []) ?? []).map(plainName),
    ),
  }));
};

const isBelow = (node: Node, roots: ReadonlySet<Node>): boolean => {
  for (let up = node.parent; up !== null; up = up.parent) if (roots.has(up)) return true;
  return false;
};

interface Joined {
  readonly process: Node | null;
  readonly join: CallJoin;
  readonly candidates?: number;
}

/** Shorter names are in too many words. */
const LEAST_NAME = 3;

/** `lean-lsp` in `uvx lean-lsp-mcp`. */
const resembles = (root: Node, plain: string): boolean =>
  plain.length >= LEAST_NAME && [...subtreeOf(root)].some(({ seen }) => plainName(seen.name).includes(plain));

/** By the configured name, by a name like it, else the only one that is not configured by another; else it is not known. */
const joinServer = (
  name: string,
  servers: readonly Server[],
  { servers: configured }: Observation,
): Joined => {
  const plain = plainName(name);
  const named = servers.filter(({ names }) => names.has(plain));
  if (named.length === 1) return { process: named[0]!.root, join: 'name' };
  if (named.length > 1) return { process: null, join: 'unknown', candidates: named.length };
  const rest = servers.filter(({ names }) => names.size === 0);
  const alike = rest.filter(({ root }) => resembles(root, plain));
  if (alike.length === 1) return { process: alike[0]!.root, join: 'name' };
  if (rest.length === 1) return { process: rest[0]!.root, join: 'only' };
  if (rest.length > 1) return { process: null, join: 'unknown', candidates: rest.length };
  const isConfigured = configured.some(server => plainName(server.name) === plain);
  return { process: null, join: isConfigured ? 'gone' : 'unknown' };
};

/** A shell is started after its call was written down; the kernel tells its birth, and the time now, in steps of 10 ms. */
const STEPS_MS = 30;
/** By so much the two clocks may differ. */
const SHELL_TOLERANCE_MS = 100;

const joinShell = (
  call: LoggedCall,
  agent: Node,
  { takenAt, clock }: Observation,
  tree: Tree | null,
): Joined => {
  const bornAt = ({ facts }: Node): number =>
    facts.born === null ? Number.NEGATIVE_INFINITY : takenAt - (clock - facts.born) * 1000;
  const startedAt = call.startedAt ?? Number.POSITIVE_INFINITY;
  const all = hostsOf(agent, tree)
    .flatMap(host => host.children)
    .filter(
      node =>
        (node.kind === 'shell' || node.kind === 'wrapper') &&
        !isZombie(node.facts) &&
        (node.seen.role === 'bash-tool' || !isServerNode(node)),
    );
  const within = (tolerance: number): readonly Node[] =>
    all.filter(node => bornAt(node) >= startedAt - tolerance);
  // Agents start one command right after another: the earlier shell is not this call's.
  const close = within(STEPS_MS);
  const shells = close.length === 1 ? close : within(SHELL_TOLERANCE_MS);
  return shells.length === 1
    ? { process: shells[0]!, join: 'only' }
    : { process: null, join: 'unknown', candidates: shells.length };
};

/** Clocks of logs and processes differ by so much. */
const BORN_TOLERANCE_MS = 2000;

/** What an agent waits for, and the processes that work on it. A call from before its start was another's. */
export const joinCalls = (
  agent: Node,
  pending: readonly LoggedCall[],
  observation: Observation,
  tree: Tree | null,
): readonly Call[] => {
  if (pending.length === 0) return [];
  const { takenAt, clock } = observation;
  const { born } = agent.facts;
  const bornAt = born == null ? Number.NEGATIVE_INFINITY : takenAt - (clock - born) * 1000;
  const shells = new Set(callLogOf(agent.agent)?.shells ?? []);
  let servers: readonly Server[] | null = null;
  const joined = (call: LoggedCall): Joined => {
    if (call.server !== null) {
      servers ??= serversOf(agent, observation, tree);
      return joinServer(call.server, servers, observation);
    }
    return shells.has(call.tool)
      ? joinShell(call, agent, observation, tree)
      : { process: null, join: 'itself' };
  };
  return pending
    .filter(({ startedAt }) => startedAt === null || startedAt >= bornAt - BORN_TOLERANCE_MS)
    .map(call => {
      const { process, ...how } = joined(call);
      return {
        ...call,
        seconds: call.startedAt === null ? null : Math.max(0, (takenAt - call.startedAt) / 1000),
        process: process === null ? null : { pid: process.facts.pid, start: process.facts.start },
        ...how,
      };
    });
};
