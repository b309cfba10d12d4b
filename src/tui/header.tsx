import { Box } from 'ink';
import type { ReactNode } from 'react';
import type { PastMoment } from '../engine/live-state.ts';
import { countBuilds } from '../judge/duplicates.ts';
import type { Mark, MarkKind } from '../model/report.ts';
import type { Snapshot } from '../model/snapshot.ts';
import { cells } from '../model/text.ts';
import { formatBytes, formatMoment, plural, spellBytes } from '../model/units.ts';
import type { Screen } from './screen.ts';
import { Line, Lines } from './ui/line.tsx';
import { sparkline } from './ui/plot.ts';
import { type Runs, run, runsWidth, spread } from './ui/runs.ts';
import type { ThemeTone } from './ui/theme.ts';
import { useScreen } from './ui/use-screen.ts';

/** Who, where, how often; then the numbers people glance at. */
export const Header = (): ReactNode => {
  const screen = useScreen();
  const { layout, state } = screen;
  const { columns: width, headerRows } = layout;
  const moment = layout.timeLine ? state.moment : null;
  return (
    <Box flexDirection="column" flexShrink={0} aria-label={summaryOf(screen)}>
      {headerRows === 1 ? (
        <Line runs={oneLine(screen)} width={width} />
      ) : (
        <>
          <Line runs={titleRuns(screen)} width={width} />
          <Lines of={flow(factsOf(screen, width < 72), headerRows - (moment ? 2 : 1), width)} width={width} />
          {moment && <TimeLine moment={moment} width={width} />}
        </>
      )}
    </Box>
  );
};

/** The header as sentences. */
const summaryOf = (screen: Screen): string => {
  const { totals, findings } = screen.snapshot;
  const summary = `reaptop: ${plural(totals.agents, 'agent')}, ${plural(totals.leaks, 'leak')}, ${spellBytes(totals.reclaimable)} reclaimable, ${plural(totals.zombies, 'zombie')}, ${plural(findings.length, 'finding')}.`;
  const unusual = flagsOf(screen).map(flag => flag.text);
  return unusual.length === 0 ? summary : `${summary}\n${unusual.join(', ')}.`;
};

/** One fact of the header: what it says, how loud, and which facts go first when there is no room. */
interface Fact {
  readonly text: string;
  readonly tone: ThemeTone;
  /** 1 is kept longest. */
  readonly importance: number;
}

const alarm = (count: number, tone: ThemeTone): ThemeTone => (count > 0 ? tone : 'faint');

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

const factsOf = ({ snapshot }: Screen, narrow: boolean, brief = false): readonly Fact[] => {
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
const flow = (all: readonly Fact[], rows: number, width: number): readonly Runs[] => {
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
const flagsOf = ({ state, view, snapshot, layout }: Screen): readonly Fact[] => {
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
const flags = (screen: Screen, room: number): Runs => {
  const all = flagsOf(screen);
  for (let limit = 6; ; limit -= 1) {
    const line = all
      .filter(({ importance }) => importance <= limit)
      .flatMap(({ text, tone }) => [run(text, tone), run(GAP)]);
    if (runsWidth(line) - GAP.length <= room || limit === 1) return line;
  }
};

/** All of it in one row: what is unusual must be seen, and how much is leaked. */
const oneLine = (screen: Screen): Runs => {
  const { columns } = screen.layout;
  const shown = flags(screen, columns - 1 - cells(leakedBriefly(screen.snapshot)) - GAP.length).slice(0, -1);
  const room = columns - runsWidth(shown);
  const [whole = []] = flow(factsOf(screen, true), 1, room);
  const [brief = []] = runsWidth(whole) <= room ? [whole] : flow(factsOf(screen, true, true), 1, room);
  return [...brief, ...shown];
};

const SPARK_CELLS = 24;

/** The first row: the machine, what is unusual, and the memory of the last minutes. */
const titleRuns = (screen: Screen): Runs => {
  const { layout, state, snapshot, glyphs } = screen;
  const width = layout.columns;
  const title: Runs = [run(' reaptop', 'title'), run(`  ${snapshot.host.name}`, 'strong'), run(GAP)];
  const every: Runs = state.readOnly ? [] : [run(`every ${state.intervalSeconds}s `, 'faint')];
  const left: Runs = [...title, ...flags(screen, width - runsWidth(title) - runsWidth(every) - GAP.length)];
  const room = width - runsWidth(left) - runsWidth(every) - 2;
  const cells = Math.min(SPARK_CELLS, room - 1);
  const spark = cells < 1 ? '' : sparkline(state.memory, cells, snapshot.host.memTotal, glyphs);
  const label = room > SPARK_CELLS + 8 ? 'mem ' : '';
  // As wide from the first sample on: a curve that grows would push its label along at every refresh.
  const missing = run(' '.repeat(Math.max(0, cells - spark.length)));
  const right: Runs =
    spark === '' ? every : [run(label, 'faint'), missing, run(spark, 'graph'), run(GAP), ...every];
  return spread(left, right, width);
};

/** Half an hour to each side of the moment shown. */
const HALF_MS = 30 * 60_000;
/** A picture every ten seconds: a mark this close is of the moment shown. */
const AT_MARK_MS = 15_000;

const LOOKS = {
  leak: { letter: 'L', tone: 'leak' },
  ended: { letter: 'E', tone: 'good' },
  silent: { letter: 'S', tone: 'warn' },
  peak: { letter: 'M', tone: 'warn' },
  oom: { letter: 'O', tone: 'bad' },
  boot: { letter: 'B', tone: 'strong' },
} as const satisfies Record<MarkKind, { readonly letter: string; readonly tone: ThemeTone }>;

/** Marks that matter more hide those that matter less where both fall on one cell. */
const WEIGHT: readonly MarkKind[] = ['ended', 'peak', 'silent', 'leak', 'boot', 'oom'];

const clock = (at: number): string => formatMoment(at).slice(11, 16);

/** The hour around the moment: where it is, what happened when, and what happened there. */
const TimeLine = ({
  moment: { at, marks, note, now = Number.POSITIVE_INFINITY },
  width,
}: {
  readonly moment: PastMoment;
  readonly width: number;
}): ReactNode => {
  // There is no future to show.
  const to = Math.min(at + HALF_MS, Math.max(now, at));
  const from = to - 2 * HALF_MS;
  const left = ` ${clock(from)} `;
  const right = ` ${clock(to)}  `;
  const here = marks.findLast(mark => Math.abs(mark.at - at) <= AT_MARK_MS);
  const told = note ?? here?.text ?? '';
  const room = Math.max(10, Math.min(60, width - cells(left) - cells(right) - Math.min(cells(told), 40)));
  const slots: (Mark | null)[] = Array.from({ length: room }, () => null);
  for (const mark of marks) {
    if (mark.at < from || mark.at >= to) continue;
    const slot = Math.floor(((mark.at - from) / (to - from)) * room);
    const known = slots[slot] ?? null;
    if (known === null || WEIGHT.indexOf(mark.mark) >= WEIGHT.indexOf(known.mark)) slots[slot] = mark;
  }
  const middle = Math.min(room - 1, Math.floor(((at - from) / (to - from)) * room));
  const line = slots.map((mark, slot) => {
    if (slot === middle) return run('|', 'title');
    return mark === null ? run('-', 'faint') : run(LOOKS[mark.mark].letter, LOOKS[mark.mark].tone);
  });
  return <Line runs={[run(left, 'faint'), ...line, run(right, 'faint'), run(told, 'plain')]} width={width} />;
};
