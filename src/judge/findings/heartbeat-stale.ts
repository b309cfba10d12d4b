import { formatOf } from '../../agents/files/formats.ts';
import type { Reading } from '../../model/heartbeat.ts';
import type { Identity } from '../../model/identity.ts';
import { identityOf, type JudgedProcess, label } from '../../model/snapshot.ts';
import { formatAge } from '../../model/units.ts';
import type { Detector } from './detector.ts';

/** What the agent was doing when it was last heard of. */
const lastWords = (reading: Reading): string => {
  const words = [
    reading.operation === null ? null : `last operation ${reading.operation}`,
    reading.phase === null ? null : `phase ${reading.phase}`,
    reading.proof === null ? null : `proof ${reading.proof}`,
    ...Object.entries(reading.counters).map(([name, value]) => `${name} ${value}`),
  ];
  return words.filter(word => word !== null).join(', ') || 'it never reported what it was doing';
};

export const subjectOf = (reading: Reading): string => {
  if (reading.agentId !== null) return `agent ${reading.agentId}`;
  return reading.task === null ? (reading.source ?? 'an agent') : `task ${reading.task}`;
};

/** A progress file that is not written any more, although its work is not over. */
export const heartbeatStale: Detector = ({ files }) => {
  // One agent may have thousands of files.
  const subtrees = new Map<JudgedProcess, readonly Identity[]>();
  const below = (agent: JudgedProcess): readonly Identity[] => {
    const known = subtrees.get(agent) ?? files.forest.subtreeOf(agent).map(identityOf);
    subtrees.set(agent, known);
    return known;
  };
  return files.joined.flatMap(({ reading, state, ageSeconds, agent, candidates, reason }) => {
    if (formatOf(reading).thresholds !== 'heartbeat-stale' || (state !== 'warn' && state !== 'critical'))
      return [];
    // No agent that could have written it is left, and it has been silent for long.
    const over = candidates.length === 0 && state === 'critical';
    const who = agent === null ? 'no running agent was found for it' : `${label(agent)} still runs`;
    return [
      {
        id: 'heartbeat-stale',
        severity: state,
        title: `${subjectOf(reading)}: no heartbeat for ${formatAge(ageSeconds)}`,
        why: `${lastWords(reading)}; ${who}${reading.unreadable === null ? '' : `; ${reason}`}`,
        processes: agent === null ? [] : below(agent),
        files: [reading.path],
        remedy:
          agent !== null ? 'see what it waits for, or end it' : over ? 'archive the file' : 'wait for it',
        action: agent !== null ? 'end' : over ? 'remove-file' : null,
      },
    ];
  });
};
