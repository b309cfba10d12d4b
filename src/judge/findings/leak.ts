import type { Finding, Severity } from '../../model/finding.ts';
import { forestOf } from '../../model/forest.ts';
import { type LeftBehind, leftBehind, originOf } from '../../model/levels.ts';
import { isZombie, memoryOf } from '../../model/process.ts';
import { identityOf, type JudgedProcess, label } from '../../model/snapshot.ts';
import { someOf } from '../../model/text.ts';
import { formatAge, formatBytes, spellBytes } from '../../model/units.ts';
import type { Detector } from './detector.ts';

/** What was left by one dead session, or by one program, with all that is below it. */
export interface LeakGroup extends LeftBehind {
  readonly members: readonly JudgedProcess[];
}

/** Everything with verdict leak, grouped by who left it. */
export const leakGroups = (processes: readonly JudgedProcess[]): readonly LeakGroup[] => {
  const forest = forestOf(
    processes.filter(p => p.verdict === 'leak' && !isZombie(p.facts)),
    p => p.facts,
  );
  return leftBehind(forest.roots).map(left => ({
    ...left,
    members: left.roots.flatMap(root => forest.subtreeOf(root)),
  }));
};

const titleOf = (group: LeakGroup, bytes: string, oldest: string | null): string => {
  const [only, ...others] = group.members;
  if (only !== undefined && others.length === 0)
    return `leaked: ${label(only)}, ${bytes}${oldest === null ? '' : `, ${oldest} old`}`;
  return `${originOf(group)}: ${group.members.length} leaked, ${bytes}${oldest === null ? '' : `, oldest ${oldest}`}`;
};

export const leakFinding = (group: LeakGroup, severity: Severity): Finding => {
  const { session, roots, members } = group;
  const bytes = members.reduce((sum, p) => sum + memoryOf(p.facts), 0);
  const oldest = Math.max(...members.map(p => p.ageSeconds ?? -1));
  const reasons = [...new Set(roots.map(root => root.why.join('; ')))];
  const names =
    session === null || members.length === 1 ? '' : `${someOf([...new Set(roots.map(root => root.name))])}: `;
  return {
    id: 'leak',
    severity,
    title: titleOf(group, formatBytes(bytes), oldest < 0 ? null : formatAge(oldest)),
    why: `${names}${reasons[0]}${reasons.length > 1 ? ' (and other reasons)' : ''}`,
    processes: members.map(identityOf),
    files: [],
    remedy: `end ${members.length === 1 ? 'it' : 'them'}: ${spellBytes(bytes)} reclaimable`,
    action: 'clean',
  };
};

/** One finding for what one dead session left, or one program where no session is known. */
export const leak: Detector = ({ processes, config }) => {
  const groups = leakGroups(processes);
  const total = groups.flatMap(({ members }) => members).reduce((sum, p) => sum + memoryOf(p.facts), 0);
  const severity = total >= config.thresholds.leak.criticalBytes ? 'critical' : 'warn';
  return groups.map(group => leakFinding(group, severity));
};
