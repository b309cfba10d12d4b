import type { FindingId } from '../../model/finding.ts';
import type {
  Episode,
  Glimpse,
  GroupTotals,
  HungTool,
  RecordedAct,
  Report,
  ReportGroup,
  Target,
} from '../../model/report.ts';

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

/** Each call once, however often it was seen, by tool and server. */
const hungToolsOf = (glimpses: readonly Glimpse[]): readonly HungTool[] => {
  const calls = new Map(glimpses.flatMap(({ hungCalls }) => hungCalls).map(call => [call.id, call]));
  const tools = new Map<string, HungTool>();
  for (const { tool, server, seconds } of calls.values()) {
    const key = `${server ?? ''}\n${tool}`;
    const known = tools.get(key) ?? { tool, server, calls: 0, longestSeconds: 0 };
    const longestSeconds = Math.max(known.longestSeconds, seconds);
    tools.set(key, { ...known, calls: known.calls + 1, longestSeconds });
  }
  return [...tools.values()].sort((a, b) => b.calls - a.calls || b.longestSeconds - a.longestSeconds);
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
    slept: {
      sessions: acts.reduce((sum, act) => sum + act.slept, 0),
      freed: acts.reduce((sum, act) => sum + (act.slept > 0 ? act.freed : 0), 0),
    },
    zombiePeak: most(glimpses, glimpse => glimpse.zombies),
    zombiesPerSession: most(glimpses, ({ zombies, agents }) => zombies / Math.max(1, agents.length)),
    hangs: episodes.filter(({ id }) => HANGS.has(id)),
    hungTools: hungToolsOf(glimpses),
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

/** What the seeds call a hang: an agent that went silent, a marker that holds it up, a loop that was cut. */
const HANGS: ReadonlySet<FindingId> = new Set([
  'heartbeat-stale',
  'marker-age',
  'loop-guard',
  'call-hung',
  'session-hung',
]);
/** Findings that can be acted on; the rest only describes. */
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

interface Named {
  readonly kind: string | null;
  readonly agent: string | null;
  readonly project: string | null;
}

const NAME: Readonly<Record<ReportGroup, (p: Named, at: number) => string>> = {
  day: (_, at) => new Date(at).toISOString().slice(0, 10),
  kind: ({ kind }) => kind ?? 'unknown',
  project: ({ project }) => project ?? 'unknown',
  agent: ({ agent }) => agent ?? 'none',
};

const CLEARED: ReadonlySet<string> = new Set(['ended', 'killed']);

const DAY_MS = 86_400_000;

/** Leaks, what was cleared and what came back, by day (days without data included), kind, project or agent. */
const groupsOf = (
  by: ReportGroup,
  glimpses: readonly Glimpse[],
  acts: readonly RecordedAct[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly GroupTotals[] => {
  const found = new Map<string, { leaks: Set<string>; cleared: number; freed: number; memoryPeak: number }>();
  const group = (name: string) => {
    const known = found.get(name) ?? { leaks: new Set(), cleared: 0, freed: 0, memoryPeak: 0 };
    found.set(name, known);
    return known;
  };
  const nameOf = NAME[by];
  if (by === 'day')
    for (let at = from - (from % DAY_MS); at <= to; at += DAY_MS)
      group(new Date(at).toISOString().slice(0, 10));
  for (const { at, leaks, agents } of glimpses) {
    const memory = new Map<string, number>();
    for (const p of agents) memory.set(nameOf(p, at), (memory.get(nameOf(p, at)) ?? 0) + p.memory);
    for (const [name, bytes] of memory) group(name).memoryPeak = Math.max(group(name).memoryPeak, bytes);
    for (const p of leaks) group(nameOf(p, at)).leaks.add(p.key);
  }
  for (const { at, outcomes } of acts)
    for (const outcome of outcomes) {
      const its = group(nameOf(outcome, at));
      if (outcome.verdict === 'leak') its.leaks.add(outcome.key);
      if (CLEARED.has(outcome.outcome)) its.cleared += 1;
      its.freed += outcome.freed;
    }
  return [...found]
    .map(([name, { leaks, ...rest }]) => ({ name, leaks: leaks.size, ...rest }))
    .sort((a, b) => (by === 'day' ? (a.name < b.name ? -1 : 1) : b.freed - a.freed || b.leaks - a.leaks));
};

export interface LogFacts {
  readonly bytes: number;
  readonly files: number;
}

/** The audit log is rotated at 4 MiB between two acts, and two older files are kept. */
const LOG_LIMIT = 16 * 1024 ** 2;
const LOG_FILES = 3;

const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** The seeds' targets, each beside what was measured. */
const targetsOf = (
  report: Omit<Report, 'targets'>,
  log: LogFacts,
  partial: number | null,
): readonly Target[] => {
  const { sessions, hangs, zombiesPerSession, moments, relatedFirst, relatedLast } = report;
  const hangShare = sessions === 0 ? null : hangs.length / sessions;
  return [
    {
      what: 'hangs per session',
      wanted: '< 10 %',
      measured: hangShare === null ? 'no data' : percent(hangShare),
      met: hangShare === null ? null : hangShare < 0.1,
    },
    {
      what: 'partial results of what ended early',
      wanted: '> 70 %',
      measured: partial === null ? 'no data' : percent(partial),
      met: partial === null ? null : partial > 0.7,
    },
    {
      what: 'zombies per session',
      wanted: '< 2',
      measured: moments === 0 ? 'no data' : zombiesPerSession.toFixed(1),
      met: moments === 0 ? null : zombiesPerSession < 2,
    },
    {
      what: 'processes back to the baseline',
      wanted: relatedFirst === null ? 'no more than at first' : `<= ${relatedFirst}`,
      measured: relatedLast === null ? 'no data' : String(relatedLast),
      met: relatedFirst === null || relatedLast === null ? null : relatedLast <= relatedFirst,
    },
    {
      what: 'log rotation',
      wanted: '<= 16 MiB in 3 files',
      measured: `${(log.bytes / 1024 ** 2).toFixed(1)} MiB in ${log.files}`,
      met: log.bytes <= LOG_LIMIT && log.files <= LOG_FILES,
    },
  ];
};
