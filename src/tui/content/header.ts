import { countBuilds } from '../../judge/siblings.ts';
import { formatBytes, formatMoment, plural } from '../../model/format.ts';
import type { Snapshot } from '../../model/snapshot.ts';
import { cells } from '../../model/width.ts';
import { sparkline } from '../look/plot.ts';
import type { Tone } from '../look/theme.ts';
import { type Line, lineToWidth, lineWidth, run, spread } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';
import { timeLine } from './time-line.ts';

/** One fact of the header: what it says, how loud, and which facts go first when there is no room. */
interface Fact {
  readonly text: string;
  readonly tone: Tone;
  /** 1 is kept longest. */
  readonly importance: number;
}

const alarm = (count: number, tone: Tone): Tone => (count > 0 ? tone : 'faint');

const counted = new WeakMap<Snapshot, number>();

/** Counted once for a snapshot: the header is asked at every key. */
const buildsIn = (snapshot: Snapshot): number => {
  const known = counted.get(snapshot) ?? countBuilds(snapshot.processes);
  counted.set(snapshot, known);
  return known;
};

/** What is leaked, in half the cells: what the flags leave no room for. */
const leakedBriefly = ({ totals }: Snapshot): string =>
  totals.leaks > 0 ? `${totals.leaks} leaked, ${formatBytes(totals.reclaimable)}` : 'no leaks';

const facts = ({ snapshot }: Screen, narrow: boolean, brief = false): readonly Fact[] => {
  const { totals, host, heartbeats, processes } = snapshot;
  const stale = heartbeats.filter(b => b.state === 'warn' || b.state === 'critical').length;
  const waiting = processes.filter(p => p.session?.doing === 'waiting').length;
  const builds = buildsIn(snapshot);
  const used = host.memTotal === null ? '' : ` of ${formatBytes(host.memTotal)}`;
  const swap = totals.swap > 0 ? ` + ${formatBytes(totals.swap)} swap` : '';
  const leaked = `${leakedBriefly(snapshot)}${brief || totals.leaks === 0 ? '' : ' reclaimable'}`;
  return [
    { text: plural(totals.agents, 'agent'), tone: 'strong', importance: 2 },
    { text: narrow ? `${totals.related} rel` : `${totals.related} related`, tone: 'plain', importance: 6 },
    { text: `${formatBytes(totals.rss)}${swap}${used}`, tone: 'plain', importance: narrow ? 7 : 4 },
    { text: leaked, tone: totals.leaks > 0 ? 'leak' : 'good', importance: 1 },
    {
      text: narrow ? `${totals.suspects} susp` : plural(totals.suspects, 'suspect'),
      tone: alarm(totals.suspects, 'suspect'),
      importance: 8,
    },
    { text: plural(totals.zombies, 'zombie'), tone: alarm(totals.zombies, 'warn'), importance: 3 },
    ...(waiting > 0
      ? [
          {
            text: `${waiting} ${waiting === 1 ? 'waits' : 'wait'} for you`,
            tone: 'warn' as const,
            importance: 2,
          },
        ]
      : []),
    { text: `${stale} stale`, tone: alarm(stale, 'warn'), importance: 5 },
    { text: plural(builds, 'build'), tone: alarm(builds, 'build'), importance: 9 },
  ];
};

const GAP = '  ';

const inLines = (facts: readonly Fact[], width: number): readonly (readonly Fact[])[] => {
  const lines: Fact[][] = [[]];
  let used = 1;
  for (const fact of facts) {
    const wide = cells(fact.text) + GAP.length;
    if (used + wide > width && lines.at(-1)!.length > 0) {
      lines.push([]);
      used = 1;
    }
    used += wide;
    lines.at(-1)!.push(fact);
  }
  return lines;
};

/** As many facts as go into `rows` rows, the most important first; they stand in the order they were given. */
const flow = (all: readonly Fact[], rows: number, width: number): readonly Line[] => {
  let kept: readonly Fact[] = [];
  for (const fact of all.toSorted((a, b) => a.importance - b.importance)) {
    const more = all.filter(one => one === fact || kept.includes(one));
    if (kept.length === 0 || inLines(more, width).length <= rows) kept = more;
  }
  const lines = inLines(kept, width);
  return Array.from({ length: rows }, (_, i) => [
    run(' '),
    ...(lines[i] ?? []).flatMap(f => [run(f.text, f.tone), run(GAP)]),
  ]);
};

/** What is unusual about this screen; 1 is kept longest. */
export const flagsOf = ({ state, view, snapshot, layout }: Screen): readonly Fact[] => {
  const out: Fact[] = [];
  if (snapshot.host.backend === 'demo') out.push({ text: 'demo', tone: 'faint', importance: 6 });
  // Where there is one row for everything, the year goes: a recording is of some days.
  const moment = state.moment && formatMoment(state.moment.at).slice(layout.headerRows === 1 ? 5 : 0);
  if (moment) out.push({ text: `PAST ${moment}`, tone: 'bad', importance: 1 });
  else if (state.readOnly) out.push({ text: 'read-only', tone: 'warn', importance: 4 });
  if (view.frozen) out.push({ text: 'FROZEN', tone: 'warn', importance: 2 });
  if (view.all) out.push({ text: 'all processes', tone: 'plain', importance: 5 });
  if (view.sort !== 'start') out.push({ text: `by ${view.sort}`, tone: 'plain', importance: 5 });
  if (view.marked.size > 0) out.push({ text: `${view.marked.size} marked`, tone: 'mark', importance: 3 });
  if (state.slowedDown) out.push({ text: 'slowed', tone: 'warn', importance: 4 });
  return out;
};

/** As many flags as there is room for, each of them whole. */
const flags = (screen: Screen, room: number): Line => {
  const all = flagsOf(screen);
  for (let limit = 6; ; limit -= 1) {
    const line = all
      .filter(({ importance }) => importance <= limit)
      .flatMap(({ text, tone }) => [run(text, tone), run(GAP)]);
    if (lineWidth(line) - GAP.length <= room || limit === 1) return line;
  }
};

/** All of it in one row: what is unusual must be seen, and how much is leaked. */
const oneLine = (screen: Screen): Line => {
  const { columns } = screen.layout;
  const shown = flags(screen, columns - 1 - cells(leakedBriefly(screen.snapshot)) - GAP.length).slice(0, -1);
  const room = columns - lineWidth(shown);
  const [whole = []] = flow(facts(screen, true), 1, room);
  const [brief = []] = lineWidth(whole) <= room ? [whole] : flow(facts(screen, true, true), 1, room);
  return lineToWidth([...brief, ...shown], columns);
};

const SPARK_CELLS = 24;

/** Who, where, how often; then the numbers people glance at. */
export const headerLines = (screen: Screen): readonly Line[] => {
  const { layout, state, snapshot, glyphs } = screen;
  const width = layout.columns;
  const narrow = width < 72;
  if (layout.headerRows === 1) return [oneLine(screen)];
  const title: Line = [run(' reaptop', 'title'), run(`  ${snapshot.host.name}`, 'strong'), run(GAP)];
  const every: Line = state.readOnly ? [] : [run(`every ${state.intervalSeconds}s `, 'faint')];
  const left: Line = [...title, ...flags(screen, width - lineWidth(title) - lineWidth(every) - GAP.length)];
  const room = width - lineWidth(left) - lineWidth(every) - 2;
  const cells = Math.min(SPARK_CELLS, room - 1);
  const spark = cells < 1 ? '' : sparkline(state.memory, cells, snapshot.host.memTotal, glyphs);
  const label = room > SPARK_CELLS + 8 ? 'mem ' : '';
  // As wide from the first look on: a course that grows would push its label along at every refresh.
  const missing = run(' '.repeat(Math.max(0, cells - spark.length)));
  const right: Line =
    spark === '' ? every : [run(label, 'faint'), missing, run(spark, 'graph'), run(GAP), ...every];
  const factRows = layout.headerRows - (layout.timeLine ? 2 : 1);
  return [
    lineToWidth(spread(left, right, width), width),
    ...flow(facts(screen, narrow), factRows, width).map(line => lineToWidth(line, width)),
    ...(layout.timeLine && state.moment ? [timeLine(state.moment, width)] : []),
  ];
};
