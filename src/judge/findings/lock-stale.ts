import { formatOf } from '../../agents/files/formats.ts';
import { identityOf } from '../../model/snapshot.ts';
import { formatAge } from '../../model/units.ts';
import type { Detector } from './detector.ts';
import { subjectOf } from './heartbeat-stale.ts';

/** A diagnostic lock that was never released. */
export const lockStale: Detector = ({ files }) =>
  files.joined.flatMap(({ reading, state, reason, ageSeconds, agent }) => {
    if (formatOf(reading).thresholds !== 'lock-stale' || state !== 'warn') return [];
    return [
      {
        id: 'lock-stale',
        severity: 'warn',
        title: `${subjectOf(reading)}: the diagnostic lock is ${ageSeconds === null ? 'dated in the future' : `${formatAge(ageSeconds)} old`}`,
        why: reason ?? 'it was not released',
        processes: agent === null ? [] : [identityOf(agent)],
        files: [reading.path],
        remedy: 'remove the lock',
        action: 'remove-file',
      },
    ];
  });
