import type { Glimpse, Group, RecordedAct, ReportGroup } from '../../model/report.ts';

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

export const CLEARED: ReadonlySet<string> = new Set(['ended', 'killed']);

const DAY_MS = 86_400_000;

/** Leaks, what was cleared and what came back, by day (days without data included), kind, project or agent. */
export const groupsOf = (
  by: ReportGroup,
  glimpses: readonly Glimpse[],
  acts: readonly RecordedAct[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly Group[] => {
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
