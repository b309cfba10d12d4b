import { formatOf } from '../../agents/files/formats.ts';
import type { Forest } from '../../model/forest.ts';
import { keyOf } from '../../model/identity.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import type { Past } from '../past.ts';
import type { FileIndex } from './file-index.ts';

export type Life =
  /** Something moved within the limit. */
  | 'moving'
  /** Everything that can be seen stood still for the limit, CPU included. */
  | 'still'
  /** Nothing is seen to move, but not everything can be seen: no accusation rests on that. */
  | 'unknown';

/** Seconds since anything in the agent's subtree used CPU; null when one of them is not known. */
const quietCpu = (agent: JudgedProcess, forest: Forest<JudgedProcess>, past: Past): number | null => {
  const members = forest.subtreeOf(agent);
  if (members.some(p => (p.facts.cpu ?? 0) >= 1)) return 0;
  const quiet = members.map(p => past.quietSeconds(keyOf(p.facts)));
  return quiet.some(seconds => seconds === null) ? null : Math.min(...(quiet as number[]));
};

/** When an agent was last seen to do something, in seconds; null: it cannot be seen. */
export interface Vitals {
  readonly beatSeconds: number | null;
  readonly cpuSeconds: number | null;
}

const newestBeat = (agent: JudgedProcess, index: FileIndex): number | null => {
  let newest: number | null = null;
  for (const { reading, ageSeconds } of index.about(agent))
    if (formatOf(reading).signOfLife !== null && ageSeconds !== null && ageSeconds < (newest ?? Infinity))
      newest = ageSeconds;
  return newest;
};

/** What an agent's heartbeats, transcript and CPU tell, for one look. */
export const vitalsOf = (
  index: FileIndex,
  forest: Forest<JudgedProcess>,
  past: Past,
): ((agent: JudgedProcess) => Vitals) => {
  const known = new Map<JudgedProcess, Vitals>();
  return agent => {
    const vitals = known.get(agent) ?? {
      beatSeconds: newestBeat(agent, index),
      cpuSeconds: quietCpu(agent, forest, past),
    };
    known.set(agent, vitals);
    return vitals;
  };
};

/** What an agent's signs of life say about the last `seconds`. */
export const lifeOf = ({ beatSeconds, cpuSeconds }: Vitals, seconds: number): Life => {
  if (beatSeconds !== null && beatSeconds < seconds) return 'moving';
  if (cpuSeconds === null) return 'unknown';
  return cpuSeconds >= seconds ? 'still' : 'moving';
};
