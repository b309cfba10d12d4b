import type { FindingAction } from '../../model/finding.ts';
import { spellBytes } from '../../model/format.ts';
import { memoryOf } from '../../model/process.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import { calls } from '../../words/process.ts';
import type { Detector } from './detector.ts';

export const overMemory: Detector = ({ processes, config }) =>
  processes
    .filter(p => memoryOf(p.facts) >= config.thresholds['over-memory'].limitBytes)
    .map(p => ({
      id: 'over-memory',
      severity: 'critical',
      title: `${calls(p)} holds ${spellBytes(memoryOf(p.facts))}`,
      why: `RSS and swap together are above the limit of ${spellBytes(config.thresholds['over-memory'].limitBytes)}`,
      processes: [identityOf(p)],
      files: [],
      remedy: remedyFor(p),
      action: actionFor(p),
    }));

/** Of what nobody may signal, a background session can be stopped by its supervisor. */
const actionFor = (p: JudgedProcess): FindingAction | null => {
  if (p.protection === 'hard') return p.job == null ? null : 'stop-session';
  return p.verdict === 'leak' ? 'clean' : 'end';
};

const remedyFor = (p: JudgedProcess): string => {
  // What nobody may signal has its own way to be ended: `claude stop 1a2b3c4d`.
  if (p.protection === 'hard') return p.protectedBecause ?? 'it is protected';
  return p.verdict === 'leak'
    ? 'it is leaked: end it'
    : 'it may be in use: ask its session to finish, or end it yourself';
};
