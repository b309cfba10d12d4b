import { Box } from 'ink';
import type { ReactNode } from 'react';
import type { PastMoment } from '../engine/live-state.ts';
import type { Mark, MarkKind } from '../model/report.ts';
import { identityOf, type JudgedProcess } from '../model/snapshot.ts';
import { cells } from '../model/text.ts';
import { formatBytes, formatMoment, plural, spellBytes } from '../model/units.ts';
import type { Screen } from './screen.ts';
import type { Store } from './store.ts';
import { nextWaiting, reveal } from './tree/tree-keys.ts';
import { Line } from './ui/line.tsx';
import { clickable, type Runs, run, runsWidth, spread } from './ui/runs.ts';
import type { ThemeTone } from './ui/theme.ts';
import { useScreen } from './ui/use-screen.ts';

/** Where we are and how full the machine is; then what asks for a look. */
export const Header = (): ReactNode => {
  const screen = useScreen();
  const { layout, state } = screen;
  const { columns: width, headerRows } = layout;
  const moment = layout.timeLine ? state.moment : null;
  const rows = headerRows - (moment ? 1 : 0);
  return (
    <Box flexDirection="column" flexShrink={0} aria-label={summaryOf(screen)}>
      {rows === 1 ? (
        <Line runs={oneLine(screen)} width={width} />
      ) : (
        <>
          <Line runs={titleRuns(screen, rows === 2)} width={width} />
          {rows > 2 && <Line runs={[run(' '), ...memoryRuns(screen, width - 2)]} width={width} />}
          <Line runs={[run(' '), ...chips(chipsOf(screen), width - 1)]} width={width} />
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

/** One word of the header: what it says, how loud, and which go first when there is no room. */
interface Fact {
  readonly text: string;
  readonly tone: ThemeTone;
  /** 1 is kept longest. */
  readonly importance: number;
  readonly go?: (store: Store) => void;
}

/** The row of the first process that is so; a panel where no process is meant. */
const goTo =
  (isMeant: (p: JudgedProcess) => boolean) =>
  (store: Store): void => {
    const found = store.snapshot.processes.find(isMeant);
    if (store.view.focus !== 'tree') store.dispatch({ type: 'focus', focus: 'tree' });
    if (found === undefined || !reveal(store, identityOf(found)))
      store.notice('That process is gone, or hidden: a shows all.');
  };

const isHung = ({ session }: JudgedProcess): boolean =>
  session?.calls?.some(call => call.hung === true) === true;

/** The row that stands for what was left is closed: it is what to look at. */
const goToLeft =
  (verdict: 'leak' | 'suspect') =>
  (store: Store): void => {
    const index = store.rows.findIndex(
      row => row.group?.tone === verdict || row.process?.verdict === verdict,
    );
    if (index < 0) goTo(p => p.verdict === verdict)(store);
    else store.dispatch({ type: 'select', key: store.rows[index]!.key, index });
  };

const GO = {
  waiting: nextWaiting,
  hung: goTo(isHung),
  leak: goToLeft('leak'),
  suspect: goToLeft('suspect'),
  zombie: goTo(p => p.zombies > 0),
  silent: (store: Store): void => store.dispatch({ type: 'focus', focus: 'heartbeats' }),
};

/** What asks for a look; what is zero is not shown. */
const chipsOf = ({ snapshot }: Screen): readonly Fact[] => {
  const { totals, heartbeats, processes } = snapshot;
  const silent = heartbeats.filter(b => b.state === 'warn' || b.state === 'critical').length;
  const waiting = processes.filter(p => p.session?.doing === 'waiting').length;
  const hung = processes.filter(isHung).length;
  const leaked = `${totals.leaks} leaked ${formatBytes(totals.reclaimable)}`;
  const all: readonly (Fact & { readonly count: number })[] = [
    { count: waiting, text: `${waiting} waiting`, tone: 'warn', importance: 1, go: GO.waiting },
    { count: hung, text: `${hung} hung`, tone: 'bad', importance: 2, go: GO.hung },
    { count: totals.leaks, text: leaked, tone: 'leak', importance: 1, go: GO.leak },
    {
      count: totals.suspects,
      text: plural(totals.suspects, 'suspect'),
      tone: 'suspect',
      importance: 5,
      go: GO.suspect,
    },
    {
      count: totals.zombies,
      text: plural(totals.zombies, 'zombie'),
      tone: 'warn',
      importance: 3,
      go: GO.zombie,
    },
    { count: silent, text: `${silent} silent`, tone: 'warn', importance: 4, go: GO.silent },
  ];
  const raised = all.filter(({ count }) => count > 0);
  const sessions: Fact = { text: plural(totals.agents, 'agent'), tone: 'strong', importance: 6 };
  const calm: Fact = { text: 'nothing needs you', tone: 'good', importance: 6 };
  return [sessions, ...(raised.length === 0 ? [calm] : raised)];
};

const GAP = '  ';

/** As many as fit, the most important first; they stand in the order they were given. */
const chips = (all: readonly Fact[], width: number): Runs => {
  let kept: readonly Fact[] = [];
  for (const fact of all.toSorted((a, b) => a.importance - b.importance)) {
    const more = all.filter(one => one === fact || kept.includes(one));
    const wide = more.reduce((sum, { text }) => sum + cells(text) + GAP.length, -GAP.length);
    if (kept.length === 0 || wide <= width) kept = more;
  }
  return kept.flatMap(({ text, tone, go }, i) => {
    const word = go === undefined ? run(text, tone) : clickable(run(text, tone), { go });
    return i === 0 ? [word] : [run(GAP), word];
  });
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

/** All of it in one row: what is unusual must be seen, and what asks for a look. */
const oneLine = (screen: Screen): Runs => {
  const { columns } = screen.layout;
  const shown = flags(screen, columns - 14).slice(0, -1);
  const room = columns - 1 - runsWidth(shown) - (shown.length === 0 ? 0 : GAP.length);
  const words = chips(chipsOf(screen), room);
  return [run(' '), ...words, ...(shown.length === 0 ? [] : [run(GAP), ...shown])];
};

const GIB = 1024 ** 3;

/** In steps: a figure that trembles would paint a row at every refresh. */
const coarseBytes = (bytes: number): string =>
  formatBytes(bytes < GIB ? bytes : Math.round(bytes / (GIB / 2)) * (GIB / 2));

const coarseLoad = (load: number): string =>
  load < 10 ? String(Math.round(load * 2) / 2) : String(Math.round(load));

/** Who holds the memory of the machine; null where its size is not known. */
const memoryParts = ({ snapshot }: Screen) => {
  const { totals, host } = snapshot;
  if (host.memTotal === null || host.memAvailable === null) return null;
  const leaked = totals.reclaimable;
  const agents = Math.max(0, totals.rss + totals.swap - leaked);
  const free = host.memAvailable;
  const other = Math.max(0, host.memTotal - free - agents - leaked);
  return { agents, leaked, other, free };
};

const BAR = { least: 10, most: 32 } as const;

const PART_TONES = { agents: 'graph', leaked: 'leak', other: 'plain', free: 'faint' } as const;

/** `▕████▓▒▒░░░░▏ agents 3.4G  leaked 1.4G  other 5G  free 14G  load 2.5`, as much of it as fits. */
const memoryRuns = (screen: Screen, room: number): Runs => {
  const { snapshot, glyphs, state } = screen;
  const load = state.load ?? null;
  const loadRuns: Runs = load === null ? [] : [run('load ', 'faint'), run(coarseLoad(load))];
  const parts = memoryParts(screen);
  if (parts === null) return [run('agents ', 'faint'), run(formatBytes(snapshot.totals.rss))];
  const figures = { ...parts, total: parts.agents + parts.leaked + parts.other + parts.free };
  const words = (names: readonly (keyof typeof PART_TONES)[]): Runs =>
    names
      .filter(name => figures[name] > 0)
      .flatMap(name => {
        const bytes =
          name === 'agents' || name === 'leaked' ? formatBytes(parts[name]) : coarseBytes(parts[name]);
        return [run(`${name} `, 'faint'), run(bytes, name === 'leaked' ? 'leak' : 'plain'), run(GAP)];
      });
  const ways: readonly Runs[] = [
    [...words(['agents', 'leaked', 'other', 'free']), ...loadRuns],
    [...words(['agents', 'leaked', 'free']), ...loadRuns],
    words(['agents', 'leaked', 'free']),
    words(['agents', 'free']),
    words(['free']),
  ];
  const text = ways.find(way => runsWidth(way) + BAR.least + 3 <= room) ?? [];
  const width = Math.min(BAR.most, room - runsWidth(text) - 3);
  if (width < 4) return text;
  const [agents, leaked, other, free] = shares(
    [parts.agents, parts.leaked, parts.other, parts.free],
    width,
  ) as [number, number, number, number];
  const [a, l, o, f] = glyphs.shades;
  return [
    run(a.repeat(agents), PART_TONES.agents),
    run(l.repeat(leaked), PART_TONES.leaked),
    run(o.repeat(other), PART_TONES.other),
    run(f.repeat(free), PART_TONES.free),
    run(GAP),
    ...text,
  ];
};

/** The parts in cells: what is there at all has one. */
const shares = (parts: readonly number[], width: number): readonly number[] => {
  const total = parts.reduce((sum, part) => sum + part, 0) || 1;
  const taken = parts
    .slice(0, -1)
    .map(part => (part > 0 ? Math.max(1, Math.round((part / total) * width)) : 0));
  const left = width - taken.reduce((sum, part) => sum + part, 0);
  return [...taken, Math.max(0, left)];
};

/** The first row: the machine, what is unusual, and on a wide screen who holds its memory. */
const titleRuns = (screen: Screen, withMemory: boolean): Runs => {
  const { layout, state, snapshot } = screen;
  const width = layout.columns;
  const title: Runs = [run(' reaptop', 'title'), run(`  ${snapshot.host.name}`, 'strong'), run(GAP)];
  const every: Runs = state.readOnly ? [] : [run(`every ${state.intervalSeconds}s `, 'faint')];
  const left: Runs = [...title, ...flags(screen, width - runsWidth(title) - runsWidth(every) - GAP.length)];
  if (!withMemory) return spread(left, every, width);
  const room = width - runsWidth(left) - runsWidth(every) - GAP.length;
  const memory = room < 24 ? [] : memoryRuns(screen, room);
  return spread([...left, ...memory], every, width);
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
