import { keyOf } from '../../model/identity.ts';
import { identityOf, label } from '../../model/snapshot.ts';
import type { Detector } from './detector.ts';

/** Busy for a minute without anybody to be busy for: leaked, or suspect. */
export const spinning: Detector = ({ processes, config, past, observation }) => {
  const { percent, seconds } = config.thresholds.spinning;
  const since = observation.takenAt - seconds * 1000;
  return processes.flatMap(p => {
    if (p.verdict !== 'leak' && p.verdict !== 'suspect') return [];
    const points = past.memory(keyOf(p.facts));
    const recent = points.filter(point => point.at >= since);
    const watchedLongEnough = points[0] !== undefined && points[0].at <= since;
    if (
      !watchedLongEnough ||
      recent.length < 2 ||
      recent.some(point => point.cpu === null || point.cpu < percent)
    )
      return [];
    return [
      {
        id: 'spinning',
        severity: 'warn',
        title: `${label(p)} spins`,
        why: `${p.verdict}, and at ${Math.round(recent.at(-1)!.cpu ?? 0)} % of a core for ${seconds} s`,
        processes: [identityOf(p)],
        files: [],
        remedy: 'end it',
        action: 'end',
      },
    ];
  });
};
