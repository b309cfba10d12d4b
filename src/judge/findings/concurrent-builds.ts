import { identityOf } from '../../model/snapshot.ts';
import { plural } from '../../model/units.ts';
import { buildsByProject, chooseOne } from '../duplicates.ts';
import type { Detector } from './detector.ts';

/** Builds of one project at the same time. */
export const concurrentBuilds: Detector = ({ processes, files, config }) => {
  const { warnCount, criticalCount } = config.thresholds['concurrent-builds'];
  return buildsByProject(processes, files.forest)
    .filter(({ members }) => members.length > warnCount)
    .map(builds => {
      const { members, of } = builds;
      const choice = chooseOne(builds, 'oldest');
      return {
        id: 'concurrent-builds',
        severity: members.length > criticalCount ? 'critical' : 'warn',
        title: `${plural(members.length, 'lake build')} run in one project`,
        why: `all in ${of}; they lock and undo each other's work${choice === null ? '' : `. The oldest is ${choice.kept.facts.pid}`}`,
        processes: members.map(identityOf),
        files: [],
        remedy:
          choice === null
            ? 'end all but one; which is the oldest is not known'
            : `end the newer ones: ${choice.others.map(p => p.facts.pid).join(', ')}`,
        action: 'end',
      };
    });
};
