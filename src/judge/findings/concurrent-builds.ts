import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import type { Detector } from './detector.ts';

/** Real `lake build` processes only: a shell, `timeout` or `tee` whose words contain the text is none. */
export const concurrentBuilds: Detector = ({ processes, config }) => {
  const { warnCount, criticalCount } = config.thresholds['concurrent-builds'];
  const projects = new Map<string, JudgedProcess[]>();
  for (const p of processes) {
    if (p.seen.role !== 'lake-build' || p.facts.state === 'Z') continue;
    const project = p.facts.details?.cwd ?? null;
    if (project !== null) projects.set(project, [...(projects.get(project) ?? []), p]);
  }
  return [...projects]
    .filter(([, builds]) => builds.length > warnCount)
    .map(([project, builds]) => {
      const sorted = [...builds].sort(
        (a, b) => (a.facts.born ?? 0) - (b.facts.born ?? 0) || a.facts.pid - b.facts.pid,
      );
      return {
        id: 'concurrent-builds',
        severity: builds.length > criticalCount ? 'critical' : 'warn',
        title: `${builds.length} lake builds run in one project`,
        why: `all in ${project}; they lock and undo each other's work. The oldest is ${sorted[0]!.facts.pid}`,
        processes: sorted.map(identityOf),
        files: [],
        remedy: `end the newer ones: ${sorted
          .slice(1)
          .map(p => p.facts.pid)
          .join(', ')}`,
        action: 'end',
      };
    });
};
