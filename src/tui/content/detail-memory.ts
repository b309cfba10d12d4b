import { growthOf } from '../../judge/growth.ts';
import { formatAge, formatBytes, spellBytes } from '../../model/format.ts';
import { keyOf } from '../../model/identity.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import { memoryPlot, plotRange, type Range, resample } from '../look/plot.ts';
import type { Tone } from '../look/theme.ts';
import { type Line, run, toWidth } from '../view/line.ts';
import type { Row } from '../view/row.ts';
import type { Screen } from '../view/screen.ts';
import { subtreeHistory } from '../view/subtree-history.ts';

const PLOT_ROWS = 4;
const CPU_ROWS = 2;
const MIB = 1024 ** 2;

/** Cells before the text of a field. */
export const LABEL = 9;

export const memoryText = (p: JudgedProcess, pss: number | null): string => {
  const swap = p.facts.details?.swap ?? 0;
  const parts = [`${spellBytes(p.facts.rss ?? 0)} RSS`];
  if (swap > 0) parts.push(`${spellBytes(swap)} swap`);
  if (pss !== null) parts.push(`${spellBytes(pss)} PSS (its fair share)`);
  return parts.join(', ');
};

/** How fast it grows and when it reaches the limit for one process. */
export const growthText = (screen: Screen, p: JudgedProcess): { text: string; tone: Tone } => {
  const limit = screen.state.config.thresholds['over-memory'].limitBytes;
  const g = growthOf(screen.history(keyOf(identityOf(p))), limit);
  if (!g) return { text: 'too few samples yet to tell', tone: 'faint' };
  const perHour = g.bytesPerSecond * 3600;
  if (g.secondsToLimit === null) {
    const shrinks = perHour < -MIB;
    return { text: shrinks ? `shrinking by ${spellBytes(-perHour)} an hour` : 'steady', tone: 'good' };
  }
  const when = `reaches ${spellBytes(limit)} in ${formatAge(g.secondsToLimit)}`;
  return { text: `growing by ${spellBytes(perHour)} an hour; ${when}`, tone: 'warn' };
};

interface Plot {
  readonly values: readonly number[];
  readonly rows: number;
  readonly range: Range;
  readonly spell: (value: number) => string;
}

/** Bars with the highest and the lowest value of the scale beside them. */
const barLines = ({ values, rows, range, spell }: Plot, { glyphs }: Screen): readonly Line[] =>
  memoryPlot(values, rows, range, glyphs).map((text, i): Line => {
    const label = i === 0 ? spell(range.high) : i === rows - 1 ? spell(range.low) : '';
    return [run(toWidth(label, LABEL, 'right'), 'faint'), run(glyphs.bar, 'rule'), run(text, 'graph')];
  });

/** One core is the least a plot of CPU shows: noise is not news. */
const ONE_CORE = 100;

/** Memory and CPU of the process and all below it over the samples that are kept: of an agent, since it was first seen. */
export const plotLines = (screen: Screen, row: Row, width: number): readonly Line[] => {
  const points = subtreeHistory(row.process!, screen);
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
