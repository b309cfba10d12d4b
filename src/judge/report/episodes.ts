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

/** From the first moment that shows a finding to the first that does not show it any more. */
export const episodesOf = (
  glimpses: readonly Glimpse[],
  acts: readonly RecordedAct[],
): readonly Episode[] => {
  const open = new Map<string, { id: FindingId; from: number; last: number; about: readonly string[] }>();
  const over: Episode[] = [];
  const close = (key: string, to: number): void => {
    const one = open.get(key);
    if (one === undefined) return;
    open.delete(key);
    over.push({
      id: one.id,
      from: one.from,
      to,
      ended: actedOn(acts, one.about, one.from, to) ? 'act' : 'itself',
    });
  };
  for (const { at, findings } of glimpses) {
    const here = new Set(findings.map(({ key }) => key));
    for (const key of [...open.keys()]) if (!here.has(key)) close(key, at);
    for (const { id, key, about } of findings)
      if (ALARMS.has(id)) open.set(key, { id, from: open.get(key)?.from ?? at, last: at, about });
  }
  const still = [...open.values()].map(
    ({ id, from, last }): Episode => ({ id, from, to: last, ended: 'open' }),
  );
  return [...over, ...still].sort((a, b) => a.from - b.from);
};
