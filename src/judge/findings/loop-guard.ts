import { formatOf } from '../../agents/files/formats.ts';
import { identityOf } from '../../model/snapshot.ts';
import type { Detector } from './detector.ts';
import { subjectOf } from './heartbeat-stale.ts';

/** An agent that was sent back to work as often as its guard allows. */
export const loopGuardFinding: Detector = ({ files }) =>
  files.joined.flatMap(({ reading, state, reason, agent, candidates }) => {
    if (formatOf(reading).thresholds !== 'loop-guard' || state !== 'critical') return [];
    return [
      {
        id: 'loop-guard',
        severity: 'critical',
        title: `${subjectOf(reading)} is stuck in a loop`,
        why: reason ?? 'its loop guard is at the limit',
        processes: agent === null ? [] : [identityOf(agent)],
        files: [reading.path],
        remedy: candidates.length === 0 ? 'remove the guard' : 'look at what its stop hook refuses',
        action: candidates.length === 0 ? 'remove-file' : null,
      },
    ];
  });
