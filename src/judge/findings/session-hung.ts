import { keyOf } from '../../model/identity.ts';
import { isZombie } from '../../model/process.ts';
import { identityOf, type JudgedProcess, label } from '../../model/snapshot.ts';
import { formatAge } from '../../model/units.ts';
import { sessionsByProcess } from '../rules/agent-records.ts';
import type { Detector, FindingContext } from './detector.ts';

/** Idle processes still wake up for timers; a percent of a core is work. */
const WORK_PERCENT = 1;

/** Watched for all of this time, and never at work. */
const wasStill = (p: JudgedProcess, since: number, { past }: FindingContext): boolean => {
  const points = past.memory(keyOf(p.facts));
  const [first] = points;
  return (
    first !== undefined &&
    first.at <= since &&
    points.every(({ at, cpu }) => at < since || (cpu !== null && cpu < WORK_PERCENT))
  );
};

/** Its own file says that it works, and nothing else does: no call, no CPU, no word in its transcript. */
export const sessionHung: Detector = context => {
  const { observation, config, processes, files } = context;
  const { seconds } = config.thresholds['session-hung'];
  const since = observation.takenAt - seconds * 1000;
  let known: ReturnType<typeof sessionsByProcess> | null = null;
  return processes.flatMap(agent => {
    const { session, facts } = agent;
    if (session?.doing !== 'busy' || session.calls?.length !== 0 || isZombie(facts)) return [];
    known ??= sessionsByProcess(observation);
    const record = known(agent);
    if (record?.status !== 'busy' || (record.statusUpdatedAt ?? Number.POSITIVE_INFINITY) > since) return [];
    const written = files.index.about(agent).filter(({ reading }) => reading.format === 'transcript');
    const silent = Math.min(...written.map(({ ageSeconds }) => ageSeconds ?? 0));
    if (written.length === 0 || silent < seconds) return [];
    const members = files.forest.subtreeOf(agent).filter(p => !isZombie(p.facts));
    if (!members.every(p => wasStill(p, since, context))) return [];
    return [
      {
        id: 'session-hung',
        severity: 'warn',
        title: `${label(agent)} is marked busy but has done nothing for ${formatAge(silent)}`,
        why: 'no call is pending, nothing was written to its transcript, and its whole tree used no CPU',
        processes: [identityOf(agent)],
        files: [],
        remedy: 'look at it, or interrupt it in its pane',
        action: 'free-call',
      },
    ];
  });
};
