import { keyOf } from '../../model/identity.ts';
import { identityOf, label } from '../../model/snapshot.ts';
import { formatAge, spellBytes } from '../../model/units.ts';
import { growthOf } from '../growth.ts';
import type { Detector } from './detector.ts';

export const memoryGrowth: Detector = ({ processes, config, past }) => {
  const { minutes, growthBytes, factor } = config.thresholds['memory-growth'];
  const limit = config.thresholds['over-memory'].limitBytes;
  return processes.flatMap(p => {
    const growth = growthOf(past.memory(keyOf(p.facts)), limit);
    if (growth === null || growth.seconds < minutes * 60 || growth.trend !== 'rising') return [];
    if (growth.to - growth.from < growthBytes || growth.to < growth.from * factor) return [];
    const forecast =
      growth.secondsToLimit === null
        ? ''
        : `; at this rate it reaches the limit of ${spellBytes(limit)} in ${formatAge(growth.secondsToLimit)}`;
    return [
      {
        id: 'memory-growth',
        severity: 'warn',
        title: `${label(p)} grows by ${spellBytes(growth.bytesPerSecond * 60)} a minute`,
        why: `from ${spellBytes(growth.from)} to ${spellBytes(growth.to)} in ${formatAge(growth.seconds)}${forecast}`,
        processes: [identityOf(p)],
        files: [],
        remedy: 'watch it; restart its session before it reaches the limit',
        action: null,
      },
    ];
  });
};
