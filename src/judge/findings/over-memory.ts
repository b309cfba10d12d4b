import type { FindingAction } from '../../model/finding.ts';
import { memoryOf } from '../../model/process.ts';
import { identityOf, type JudgedProcess, label } from '../../model/snapshot.ts';
import { spellBytes } from '../../model/units.ts';
import type { Detector } from './detector.ts';

export const overMemory: Detector = ({ processes, config }) =>
  processes
    .filter(p => memoryOf(p.facts) >= config.thresholds['over-memory'].limitBytes)
    .map(p => ({
      id: 'over-memory',
      severity: 'critical',
      title: `${label(p)} holds ${spellBytes(memoryOf(p.facts))}`,
      why: `RSS and swap together are above the limit of ${spellBytes(config.thresholds['over-memory'].limitBytes)}`,
      processes: [identityOf(p)],
      files: [],
      remedy: remedyFor(p),
      action: actionFor(p),
    }));

/** A background session is never signalled, but its supervisor can stop it. */
const actionFor = (p: JudgedProcess): FindingAction | null => {
  if (p.protection === 'hard') return p.job == null ? null : 'stop-session';
  return p.verdict === 'leak' ? 'clean' : 'end';
};

const remedyFor = (p: JudgedProcess): string => {
  // It is never signalled, but has its own way to end: `claude stop 1a2b3c4d`.
  if (p.protection === 'hard') return p.protectedBecause ?? 'it is protected';
  return p.verdict === 'leak'
    ? 'end it (leaked)'
    : 'it may be in use: ask its session to finish, or end it yourself';
};
