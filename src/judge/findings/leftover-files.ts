import { formatOf } from '../../agents/files/formats.ts';
import { pushTo } from '../../model/forest.ts';
import { orchestratedTaskDirectory } from '../../model/path.ts';
import { plural, spellBytes } from '../../model/units.ts';
import { projectOfReading } from '../heartbeats/join.ts';
import type { JudgedFile } from '../heartbeats/judge-files.ts';
import type { Detector } from './detector.ts';

const placeOf = ({ reading }: JudgedFile): string =>
  orchestratedTaskDirectory(reading.path) ?? projectOfReading(reading);

/** What finished agents left lying about: one finding per task or project, not one per file. */
export const leftoverFiles: Detector = ({ files }) => {
  const places = new Map<string, JudgedFile[]>();
  for (const file of files.joined) {
    // Files of a user's own source are shown, but they are not ours to sweep.
    if (file.state !== 'leftover' || formatOf(file.reading).sweepAction === null) continue;
    pushTo(places, placeOf(file), file);
  }
  return [...places].map(([place, left]) => {
    const agents = new Set(left.map(file => file.reading.agentId).filter(id => id !== null)).size;
    const whose = agents === 0 ? 'finished work' : plural(agents, 'finished agent');
    const bytes = left.reduce((sum, file) => sum + file.reading.size, 0);
    return {
      id: 'leftover-files',
      severity: 'info',
      title: `${plural(left.length, 'file')} of ${whose} (${spellBytes(bytes)}) in ${place}`,
      why: [...new Set(left.map(file => file.reason))].slice(0, 3).join('; '),
      processes: [],
      files: left.map(file => file.reading.path),
      remedy: 'archive or remove them',
      action: 'sweep',
    };
  });
};
