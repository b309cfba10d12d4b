import { subtreeOf } from '../../model/forest.ts';
import type { Kind } from '../../model/kind.ts';
import type { Observation } from '../../model/observation.ts';
import { isZombie } from '../../model/process.ts';
import { calls, isRunningAgent, type Node } from './tree.ts';
import type { World } from './world.ts';

/** An agent that wrote something within this time has not been forgotten by its work. */
const RECENT_MS = 10 * 60 * 1000;
/** Clocks of files and machine may differ by so much; what lies further ahead was not written by a clock. */
const SKEW_MS = 60 * 1000;
/** Percent of a core between two looks. */
const WORKING_CPU = 1;
/** Percent of a core since its start: all that a single look can tell. A build has hardly rested since. */
const WORKED_CPU = 50;

/** Servers move by themselves, and so does what they started: no sign of anybody's work. */
const SERVERS: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'browser']);

const isNoServer = ({ kind, seen }: Node): boolean =>
  !SERVERS.has(kind) && !SERVERS.has(seen.wraps ?? 'other');

function* workersBelow(node: Node): Generator<Node> {
  for (const below of subtreeOf(node, isNoServer)) if (below !== node && !isZombie(below.facts)) yield below;
}

const hasWorked = ({ facts }: Node, clock: number): boolean =>
  facts.cpuSeconds !== null &&
  facts.born !== null &&
  clock > facts.born &&
  (100 * facts.cpuSeconds) / (clock - facts.born) >= WORKED_CPU;

/** Something below an agent that is no server and uses the CPU: its build goes on while it is silent itself. */
export const worksThrough = (agent: Node, { clock }: Pick<Observation, 'clock'>): Node | null => {
  for (const below of workersBelow(agent)) {
    const { cpu } = below.facts;
    if (cpu === null ? hasWorked(below, clock) : cpu >= WORKING_CPU) return below;
  }
  return null;
};

/** Why an agent is at work. Its own CPU is no reason: an orphan that spins moves it for ever. */
const workOf = (agent: Node, world: World): string | null => {
  const sign = world.lastSignOf(agent);
  const age = sign === null ? null : world.observation.takenAt - sign;
  if (age !== null && age < RECENT_MS && age > -SKEW_MS)
    return `${calls(agent)} is at work: it wrote ${Math.max(0, Math.round(age / 1000))} s ago`;
  for (const below of workersBelow(agent))
    if ((below.facts.cpu ?? 0) >= WORKING_CPU) return `${calls(agent)} is at work: ${calls(below)} is busy`;
  return null;
};

/** Why a process, or an agent that it carries, is still at work; null when nothing says so. */
export const workBelow = (node: Node, world: World): string | null => {
  for (const below of subtreeOf(node)) {
    const work = isRunningAgent(below) ? workOf(below, world) : null;
    if (work !== null) return work;
  }
  return null;
};

/** Why a build, or the shell around it, goes on: what it started is busy. */
export const buildBelow = (node: Node): string | null => {
  for (const below of workersBelow(node))
    if ((below.facts.cpu ?? 0) >= WORKING_CPU) return `${calls(node)} is at work: ${calls(below)} is busy`;
  return null;
};
