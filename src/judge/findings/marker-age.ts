import { formatOf } from '../../agents/files/formats.ts';
import { fileThreshold } from '../../model/config.ts';
import { directoryOf } from '../../model/path.ts';
import { identityOf } from '../../model/snapshot.ts';
import { formatAge } from '../../model/units.ts';
import type { Detector } from './detector.ts';
import { subjectOf } from './heartbeat-stale.ts';

/** A postflight marker that nothing will ever clear. That of a healthy run is as old as the run: only worth a word. */
export const markerAge: Detector = ({ files, config }) =>
  files.joined.flatMap(file => {
    const { reading, state, ageSeconds, agent, reason } = file;
    if (formatOf(reading).thresholds !== 'marker-age' || ageSeconds === null) return [];
    if (ageSeconds < fileThreshold(config, 'marker-age', reading.root).warnSeconds) return [];
    const severity = state === 'critical' || state === 'warn' ? state : 'info';
    const guards = files.index
      .inDirectory(directoryOf(reading.path))
      .filter(other => formatOf(other.reading).thresholds === 'loop-guard');
    const dead = file.candidates.length === 0;
    const left = severity !== 'info' && dead ? ', no agent left to do it' : '';
    return [
      {
        id: 'marker-age',
        severity,
        title: `${subjectOf(reading)}: postflight pending for ${formatAge(ageSeconds)}${left}`,
        why:
          severity === 'info'
            ? `its agent may still be active: ${agent?.name ?? 'unknown'} (${agent?.facts.pid ?? '?'})`
            : (reason ?? 'nothing moves'),
        processes: file.candidates.map(identityOf),
        files: [reading.path, ...guards.map(guard => guard.reading.path)],
        remedy:
          severity === 'info'
            ? 'none'
            : dead
              ? 'remove the marker and its loop guard'
              : 'end the agent, then remove the marker and its loop guard',
        action: severity === 'info' ? null : dead ? 'remove-file' : 'end',
      },
    ];
  });
