import { formatOf } from '../../agents/files/formats.ts';
import { fileThreshold } from '../../model/config.ts';
import type { Finding } from '../../model/finding.ts';
import { identityOf } from '../../model/snapshot.ts';
import { formatAge } from '../../model/units.ts';
import { projectOfReading } from '../heartbeats/join.ts';
import type { JudgedFile } from '../heartbeats/judge-files.ts';
import { lifeAround } from '../heartbeats/staleness.ts';
import type { Detector, FindingContext } from './detector.ts';
import { subjectOf } from './heartbeat-stale.ts';

/** The tasks of each project that ever beat; null among them: a beat that names no task. */
const tasksThatBeat = ({ files }: FindingContext): ReadonlyMap<string, ReadonlySet<string | null>> => {
  const projects = new Map<string, Set<string | null>>();
  for (const { reading } of files.joined) {
    if (formatOf(reading).signOfLife !== 'task') continue;
    const project = projectOfReading(reading);
    const tasks = projects.get(project) ?? new Set();
    projects.set(project, tasks.add(reading.task));
  }
  return projects;
};

const everBeat = ({ reading }: JudgedFile, projects: ReturnType<typeof tasksThatBeat>): boolean => {
  const tasks = projects.get(projectOfReading(reading));
  return tasks !== undefined && (reading.task === null || tasks.has(null) || tasks.has(reading.task));
};

const silentMarker = (
  marker: JudgedFile,
  context: FindingContext,
  beating: ReturnType<typeof tasksThatBeat>,
): Finding[] => {
  const { root } = marker.reading;
  const { seconds } = fileThreshold(context.config, 'heartbeat-missing', root);
  const { stillSeconds } = fileThreshold(context.config, 'marker-age', root);
  if (marker.ageSeconds === null || marker.ageSeconds < seconds || everBeat(marker, beating)) return [];
  // Many healthy projects write no progress file at all; their agent shows its life otherwise.
  if (lifeAround(marker, context.files, stillSeconds) === 'moving') return [];
  return [
    {
      id: 'heartbeat-missing',
      severity: 'warn',
      title: `${subjectOf(marker.reading)} was announced ${formatAge(marker.ageSeconds)} ago and never sent a heartbeat`,
      why: `${marker.reading.operation ?? 'its work'} is pending, but there is no progress file for it`,
      processes: marker.agent === null ? [] : [identityOf(marker.agent)],
      files: [marker.reading.path],
      remedy: 'check whether the agent ever started',
      action: null,
    },
  ];
};

/** Announced work of which nothing was ever heard. */
export const heartbeatMissing: Detector = context => {
  const { seconds } = context.config.thresholds['heartbeat-missing'];
  const beating = tasksThatBeat(context);
  const markers = context.files.joined.filter(file => formatOf(file.reading).thresholds === 'marker-age');
  const silentAgents = context.files.orchestrated.flatMap((agent): Finding[] => {
    const startedAt = agent.member?.startedAt ?? null;
    const heard = agent.files.some(file => formatOf(file.reading).signOfLife === 'agent');
    if (agent.finished !== null || agent.panes.length === 0 || heard || startedAt === null) return [];
    const age = (context.files.now - startedAt) / 1000;
    if (age < seconds) return [];
    return [
      {
        id: 'heartbeat-missing',
        severity: 'warn',
        title: `agent ${agent.id} was started ${formatAge(age)} ago and never reported`,
        why: `its tmux session ${agent.sessionName} is open, but it has neither a progress file nor a log`,
        processes: agent.processes.map(identityOf),
        files: agent.registry === null ? [] : [agent.registry.reading.path],
        remedy: 'look at its pane',
        action: null,
      },
    ];
  });
  return [...markers.flatMap(marker => silentMarker(marker, context, beating)), ...silentAgents];
};
