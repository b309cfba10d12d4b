import { subtreeOf } from '../../model/forest.ts';
import type { Kind } from '../../model/kind.ts';
import type { Observation } from '../../model/observation.ts';
import { isZombie } from '../../model/process.ts';
import type { Node } from './tree.ts';

/** Percent of a core between two samples. */
export const WORKING_CPU = 1;
/** Percent of a core since its start: all that a single sample can tell. A build has hardly rested since. */
const WORKED_CPU = 50;

/** Servers move by themselves, and so does what they started: no sign of anybody's work. */
const SERVERS: ReadonlySet<Kind> = new Set(['mcp', 'lean-lsp', 'browser']);

/** Not a server, nor the wrapper around one: what it does is somebody's work. */
export const isWork = ({ kind, seen }: Node): boolean =>
  !SERVERS.has(kind) && !SERVERS.has(seen.wraps ?? 'other');

const hasWorked = ({ facts }: Node, clock: number): boolean =>
  facts.cpuSeconds !== null &&
  facts.born !== null &&
  clock > facts.born &&
  (100 * facts.cpuSeconds) / (clock - facts.born) >= WORKED_CPU;

/** Something below an agent that is no server and uses the CPU: its build goes on while it is silent itself. */
export const worksThrough = (agent: Node, { clock }: Pick<Observation, 'clock'>): Node | null => {
  for (const below of subtreeOf(agent, isWork)) {
    if (below === agent || isZombie(below.facts)) continue;
    const { cpu } = below.facts;
    if (cpu === null ? hasWorked(below, clock) : cpu >= WORKING_CPU) return below;
  }
  return null;
};
