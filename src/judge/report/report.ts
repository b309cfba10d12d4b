import type { Glimpse, RecordedAct, Report, ReportGroup } from '../../model/report.ts';
import { episodesOf, HANGS } from './episodes.ts';
import { CLEARED, groupsOf } from './groups.ts';
import { type LogFacts, targetsOf } from './targets.ts';

export interface ReportInput {
  readonly from: number;
  readonly to: number;
  readonly by: ReportGroup;
  readonly acts: readonly RecordedAct[];
  /** Oldest first. */
  readonly glimpses: readonly Glimpse[];
  readonly log: LogFacts;
}

const STRETCHES = 48;

/** The highest value of each of so many equal stretches of time; null where nothing was recorded. */
const over = (
  glimpses: readonly Glimpse[],
  { from, to }: { readonly from: number; readonly to: number },
  value: (glimpse: Glimpse) => number,
): readonly (number | null)[] => {
  const highest = new Array<number | null>(STRETCHES).fill(null);
  for (const glimpse of glimpses) {
    const slot = Math.min(
      STRETCHES - 1,
      Math.floor(((glimpse.at - from) / Math.max(1, to - from)) * STRETCHES),
    );
    if (slot >= 0) highest[slot] = Math.max(highest[slot] ?? 0, value(glimpse));
  }
  return highest;
};

const most = (glimpses: readonly Glimpse[], value: (glimpse: Glimpse) => number): number =>
  glimpses.reduce((highest, glimpse) => Math.max(highest, value(glimpse)), 0);

/** Of the runs that ended early, the share that left a partial result; null when none did. What was seen last counts. */
const partialShare = (glimpses: readonly Glimpse[]): number | null => {
  const results = new Map(
    glimpses.flatMap(glimpse => glimpse.results.map(({ key, result }) => [key, result])),
  );
  const partial = [...results.values()].filter(result => result === 'partial').length;
  return results.size === 0 ? null : partial / results.size;
};

/** Adds up what was written down: acts from the audit log, everything else from the recorder. */
export const makeReport = ({ from, to, by, acts, glimpses, log }: ReportInput): Report => {
  const episodes = episodesOf(glimpses, acts);
  const leaks = new Set(glimpses.flatMap(glimpse => glimpse.leaks.map(({ key }) => key)));
  let cleared = 0;
  for (const { key, verdict, outcome } of acts.flatMap(act => act.outcomes)) {
    if (verdict !== 'leak') continue;
    leaks.add(key);
    if (CLEARED.has(outcome)) cleared += 1;
  }
  const first = glimpses[0];
  const last = glimpses.at(-1);
  const report: Omit<Report, 'targets'> = {
    from,
    to,
    moments: glimpses.length,
    sessions: new Set(glimpses.flatMap(glimpse => glimpse.agents.map(({ key }) => key))).size,
    leaksSeen: leaks.size,
    leaksCleared: cleared,
    freed: acts.reduce((sum, act) => sum + act.freed, 0),
    zombiePeak: most(glimpses, glimpse => glimpse.zombies),
    zombiesPerSession: most(glimpses, ({ zombies, agents }) => zombies / Math.max(1, agents.length)),
    hangs: episodes.filter(({ id }) => HANGS.has(id)),
    falseAlarms: episodes.filter(({ ended }) => ended === 'itself').length,
    agentsAtOnce: most(glimpses, glimpse => glimpse.agents.length),
    buildsAtOnce: most(glimpses, glimpse => glimpse.builds),
    memoryPeak: most(glimpses, glimpse => glimpse.memory),
    relatedFirst: first?.related ?? null,
    relatedLast: last?.related ?? null,
    tmuxSessions: last?.tmuxSessions ?? null,
    agentsNow: last?.agents.length ?? null,
    groups: groupsOf(by, glimpses, acts, { from, to }),
    series: {
      agents: over(glimpses, { from, to }, glimpse => glimpse.agents.length),
      zombies: over(glimpses, { from, to }, glimpse => glimpse.zombies),
      memory: over(glimpses, { from, to }, glimpse => glimpse.memory),
    },
  };
  return { ...report, targets: targetsOf(report, log, partialShare(glimpses)) };
};
