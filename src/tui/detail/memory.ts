import { growthOf } from '../../judge/growth.ts';
import { keyOf } from '../../model/identity.ts';
import { knownMemory } from '../../model/process.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import { formatAge, formatBytes, spellBytes } from '../../model/units.ts';
import type { Screen } from '../screen.ts';
import type { Row } from '../tree/row-order.ts';
import { memoryPlot, plotRange, type Range, resample } from '../ui/plot.ts';
import { type Runs, run, toWidth } from '../ui/runs.ts';
import type { ThemeTone } from '../ui/theme.ts';

const PLOT_ROWS = 4;
const CPU_ROWS = 2;

/** Cells before the text of a field. */
export const LABEL = 9;

export const memoryText = (p: JudgedProcess, { pss, snapshot }: Pick<Screen, 'pss' | 'snapshot'>): string => {
  const swap = p.facts.details?.swap ?? 0;
  if (knownMemory(p.facts) === null) return 'unknown';
  const parts = [`${spellBytes(p.facts.rss ?? 0)} RSS`];
  if (swap > 0) parts.push(`${spellBytes(swap)} swap`);
  const own = snapshot.host.backend === 'darwin' ? 'footprint' : 'PSS (its fair share)';
  if (pss !== null) parts.push(`${spellBytes(pss)} ${own}`);
  return parts.join(', ');
};

/** How fast it grows and when it reaches the limit for one process. */
export const growthText = (screen: Screen, p: JudgedProcess): { text: string; tone: ThemeTone } => {
  const limit = screen.state.config.thresholds['over-memory'].limitBytes;
  const g = growthOf(screen.history(keyOf(identityOf(p))), limit);
  if (!g) return { text: 'not known yet: too few samples', tone: 'faint' };
  const perHour = g.bytesPerSecond * 3600;
  if (g.trend === 'steady') return { text: 'steady', tone: 'good' };
  if (g.trend === 'falling') return { text: `shrinking by ${spellBytes(-perHour)} an hour`, tone: 'good' };
  const when =
    g.secondsToLimit === null
      ? `above the limit of ${spellBytes(limit)}`
      : `reaches the limit of ${spellBytes(limit)} in ${formatAge(g.secondsToLimit)}`;
  return { text: `growing by ${spellBytes(perHour)} an hour; ${when}`, tone: 'warn' };
};

interface Plot {
  readonly values: readonly number[];
  readonly rows: number;
  readonly range: Range;
  readonly spell: (value: number) => string;
}

/** Bars with the highest and the lowest value of the scale beside them. */
const barLines = ({ values, rows, range, spell }: Plot, { glyphs }: Screen): readonly Runs[] =>
  memoryPlot(values, rows, range, glyphs).map((text, i): Runs => {
    const label = i === 0 ? spell(range.high) : i === rows - 1 ? spell(range.low) : '';
    return [run(toWidth(label, LABEL, 'right'), 'faint'), run(glyphs.bar, 'rule'), run(text, 'graph')];
  });

/** One core is the least a plot of CPU shows: noise is not news. */
const ONE_CORE = 100;

/** Memory and CPU of the process and all below it over the samples that are kept: of an agent, since it was first seen. */
export const plotLines = (screen: Screen, row: Row, width: number): readonly Runs[] => {
  const key = keyOf(identityOf(row.process!));
  const ofTree = screen.treeHistory(key);
  const points = ofTree.length > 0 ? ofTree : screen.history(key);
  if (points.length < 2) return [];
  const room = Math.min(72, Math.max(10, width - LABEL - 3));
  const memory = resample(points, room);
  const burnt = points.filter(point => point.cpu !== null);
  const cpu = resample(
    burnt.map(({ at, cpu: percent }) => ({ at, bytes: percent ?? 0, cpu: null })),
    room,
  );
  const span = (points.at(-1)!.at - points[0]!.at) / 1000;
  const of = row.count > 1 ? `, all ${row.count} of this tree` : '';
  const cpuRange = { low: 0, high: Math.max(ONE_CORE, ...cpu) };
  return [
    ...barLines({ values: memory, rows: PLOT_ROWS, range: plotRange(memory), spell: formatBytes }, screen),
    ...(cpu.length === 0
      ? []
      : barLines(
          { values: cpu, rows: CPU_ROWS, range: cpuRange, spell: v => `cpu ${Math.round(v)}%` },
          screen,
        )),
    [
      run(' '.repeat(LABEL + 1)),
      run(toWidth(`${formatAge(span)} ago${of}`, room - 3), 'faint'),
      run('now', 'faint'),
    ],
  ];
};
