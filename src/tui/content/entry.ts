import type { LogEntry, LogLine } from '../../live/live.ts';
import { formatBytes } from '../../model/format.ts';
import { wrap } from '../../words/wrap.ts';
import { type Line, lineToWidth, run, toWidth } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';
import { clockTime } from './panel.ts';
import { scrolledOverlay, titleRule } from './tabs.ts';

const INDENT = 11;

const entryRows = ({ rows }: LogEntry, width: number): readonly Line[] =>
  rows.flatMap(({ what, pid, name, bytes, why }): readonly Line[] => [
    [
      run('  '),
      run(toWidth(what, INDENT - 2), 'strong'),
      run(pid === null ? '' : `${pid} `, 'strong'),
      run(name),
      run(bytes > 0 ? `  ${formatBytes(bytes)}` : ''),
    ],
    ...wrap(why, Math.max(12, width - INDENT)).flatMap((part): readonly Line[] =>
      part === '' ? [] : [[run(' '.repeat(INDENT)), run(part, 'faint')]],
    ),
  ]);

/** An act of the log with its plan and its outcomes. */
export const entryContent = ({ text, entry }: LogLine, width: number): readonly Line[] => {
  const told = [text, entry?.why ? `asked for: ${entry.why}` : '', entry?.note ?? ''].filter(Boolean);
  return [
    ...told.flatMap(part => wrap(part, Math.max(12, width - 3)).map((piece): Line => [run(`  ${piece}`)])),
    [],
    ...(entry ? entryRows(entry, width) : []),
  ];
};

export const entryLines = (screen: Screen, rows: number): readonly Line[] => {
  const { layout, glyphs, view } = screen;
  if (view.overlay?.kind !== 'entry') return [];
  const { line } = view.overlay;
  const { shown, more } = scrolledOverlay(entryContent(line, layout.columns), rows - 1, screen);
  const title = `${clockTime(line.at)} by ${line.entry?.by ?? '?'}`;
  return [
    titleRule(title, layout.columns, glyphs.rule, more),
    ...shown.map(one => lineToWidth(one, layout.columns, glyphs.ellipsis)),
  ];
};
