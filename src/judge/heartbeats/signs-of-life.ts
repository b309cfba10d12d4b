import { keyOf } from '../../model/identity.ts';
import type { JudgedProcess } from '../../model/snapshot.ts';
import type { Past } from '../past.ts';
import type { JoinedReading } from './join.ts';

/** Formats that an agent itself keeps up to date while it works. */
const BEATS = new Set([
  'agent-progress',
  'phase-progress',
  'progress-log',
  'stream-log',
  'transcript',
  'user',
]);

export type Life =
  /** Something moved within the limit. */
  | 'moving'
  /** Everything that can be seen stood still for the limit, CPU included. */
  | 'still'
  /** Nothing is seen to move, but not everything can be seen: no accusation rests on that. */
  | 'unknown';

/** Seconds since anything in the agent's subtree used CPU; null when one of them is not known. */
const quietCpu = (agent: JudgedProcess, processes: readonly JudgedProcess[], past: Past): number | null => {
  const members = subtreeOf(agent, processes);
  if (members.some(p => (p.facts.cpu ?? 0) >= 1)) return 0;
  const quiet = members.map(p => past.quietSeconds(keyOf(p.facts)));
  return quiet.some(seconds => seconds === null) ? null : Math.min(...(quiet as number[]));
};

/** A process and everything below it; `processes` has parents before children. */
export const subtreeOf = (root: JudgedProcess, processes: readonly JudgedProcess[]): JudgedProcess[] => {
  const pids = new Set([root.facts.pid]);
  return processes.filter(p => {
    if (p === root) return true;
    if (p.facts.ppid === null || !pids.has(p.facts.ppid)) return false;
    pids.add(p.facts.pid);
    return true;
  });
};

/** What an agent's heartbeats, transcript and CPU say about the last `seconds`. */
export const lifeOf = (
  agent: JudgedProcess,
  joined: readonly JoinedReading[],
  processes: readonly JudgedProcess[],
  past: Past,
  seconds: number,
): Life => {
  const beats = joined.filter(file => BEATS.has(file.reading.format) && file.candidates.includes(agent));
  if (beats.some(beat => beat.ageSeconds !== null && beat.ageSeconds < seconds)) return 'moving';
  const quiet = quietCpu(agent, processes, past);
  if (quiet === null) return 'unknown';
  return quiet >= seconds ? 'still' : 'moving';
};
