import { keyOf } from '../../model/identity.ts';
import { identityOf, label } from '../../model/snapshot.ts';
import { formatAge } from '../../model/units.ts';
import type { Detector } from './detector.ts';

export const stuckIo: Detector = ({ processes, config, past }) =>
  processes.flatMap(p => {
    const seconds = p.facts.state === 'D' ? past.stateSeconds(keyOf(p.facts)) : null;
    if (seconds === null || seconds < config.thresholds['stuck-io'].seconds) return [];
    return [
      {
        id: 'stuck-io',
        severity: 'warn',
        title: `${label(p)} has waited for I/O for ${formatAge(seconds)}`,
        why: 'uninterruptible I/O (state D): signals have no effect until the disk or server responds',
        processes: [identityOf(p)],
        files: [],
        remedy: 'look at the disk or the network mount; a signal would not help',
        action: null,
      },
    ];
  });
