import { growthOf } from '../../judge/growth.ts';
import { formatAge, formatBytes, spellBytes } from '../../model/format.ts';
import { keyOf } from '../../model/identity.ts';
import { identityOf, type JudgedProcess } from '../../model/snapshot.ts';
import { memoryPlot, plotRange, resample } from '../look/plot.ts';
import type { Tone } from '../look/theme.ts';
import { type Line, run, toWidth } from '../view/line.ts';
import type { Row } from '../view/rows.ts';
import type { Screen } from '../view/screen.ts';
import { subtreeHistory } from '../view/subtree-history.ts';

const PLOT_ROWS = 4;
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

/** Memory of the process and all below it over the samples that are kept. */
export const plotLines = (screen: Screen, row: Row, width: number): readonly Line[] => {
  const points = subtreeHistory(row.process!, screen);
  if (points.length < 2) return [];
  const room = Math.min(72, Math.max(10, width - LABEL - 3));
  const values = resample(points, room);
  const range = plotRange(values);
  const span = (points.at(-1)!.at - points[0]!.at) / 1000;
  const plot = memoryPlot(values, PLOT_ROWS, range, screen.glyphs);
  return [
    ...plot.map(
      (text, i): Line => [
        run(
          toWidth(
            i === 0 ? formatBytes(range.high) : i === PLOT_ROWS - 1 ? formatBytes(range.low) : '',
            LABEL,
            'right',
          ),
          'faint',
        ),
        run(screen.glyphs.bar, 'rule'),
        run(text, 'graph'),
      ],
    ),
    [
      run(' '.repeat(LABEL + 1)),
      run(
        toWidth(`${formatAge(span)} ago${row.count > 1 ? `, all ${row.count} of this tree` : ''}`, room - 3),
        'faint',
      ),
      run('now', 'faint'),
    ],
  ];
};
