import { spellBytes } from '../../model/format.ts';
import { memoryOf } from '../../model/process.ts';
import { identityOf } from '../../model/snapshot.ts';
import type { Detector } from './detector.ts';

export const overMemory: Detector = ({ processes, config }) =>
  processes
    .filter(p => memoryOf(p.facts) >= config.thresholds['over-memory'].limitBytes)
    .map(p => ({
      id: 'over-memory',
      severity: 'critical',
      title: `${p.name} (${p.facts.pid}) holds ${spellBytes(memoryOf(p.facts))}`,
      why: `RSS and swap together are above the limit of ${spellBytes(config.thresholds['over-memory'].limitBytes)}`,
      processes: [identityOf(p)],
      files: [],
      remedy:
        p.verdict === 'leak'
          ? 'it is leaked: reaptop clean'
          : 'it may be in use: ask its session to finish, or end it yourself',
      action: 'end',
    }));
