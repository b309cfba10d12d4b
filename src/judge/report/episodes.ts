import type { FindingId } from '../../model/finding.ts';
import type { Episode, Glimpse, RecordedAct } from '../../model/report.ts';

/** What the seeds call a hang: an agent that went silent, a marker that holds it up, a loop that was cut. */
export const HANGS: ReadonlySet<FindingId> = new Set(['heartbeat-stale', 'marker-age', 'loop-guard']);
/** Findings somebody may act on; the rest describes. */
const ALARMS: ReadonlySet<FindingId> = new Set([
  ...HANGS,
  'leak',
  'zombie',
  'lock-stale',
  'spinning',
  'over-memory',
]);

/** An act that is written down this long after its finding was last seen still ended it. */
const LATE_MS = 120_000;

const actedOn = (acts: readonly RecordedAct[], about: readonly string[], from: number, to: number): boolean =>
  acts.some(
    act =>
      act.at >= from &&
      act.at <= to + LATE_MS &&
      act.outcomes.some(
        ({ key, outcome }) => about.includes(key) && outcome !== 'refused' && outcome !== 'denied',
      ),
  );

interface Open {
  readonly id: FindingId;
  readonly from: number;
  last: number;
  readonly about: Set<string>;
}

/**
 * From the first moment that shows a finding to the first that does not show it any more. It is the same while it keeps
 * one of the processes or files that it is about: of what a session leaked, one may end before the others.
 */
export const episodesOf = (
  glimpses: readonly Glimpse[],
  acts: readonly RecordedAct[],
): readonly Episode[] => {
  let open: Open[] = [];
  const over: Episode[] = [];
  for (const { at, findings } of glimpses) {
    const still: Open[] = [];
    for (const { id, about } of findings) {
      if (!ALARMS.has(id)) continue;
      const known = open.find(one => one.id === id && about.some(key => one.about.has(key)));
      const one = known ?? { id, from: at, last: at, about: new Set<string>() };
      one.last = at;
      for (const key of about) one.about.add(key);
      if (!still.includes(one)) still.push(one);
    }
    for (const { id, from, about } of open.filter(one => !still.includes(one)))
      over.push({ id, from, to: at, ended: actedOn(acts, [...about], from, at) ? 'act' : 'itself' });
    open = still;
  }
  const last = open.map(({ id, from, last }): Episode => ({ id, from, to: last, ended: 'open' }));
  return [...over, ...last].sort((a, b) => a.from - b.from);
};
