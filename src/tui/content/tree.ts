import { plural } from '../../model/format.ts';
import { type Column, columnsFor } from '../look/columns.ts';
import { doing } from '../view/activity.ts';
import { inTone, type Line, lineToWidth, type Run, run, toWidth } from '../view/line.ts';
import type { Row } from '../view/row.ts';
import type { Screen } from '../view/screen.ts';
import { nameRuns } from './tree-name.ts';

const MIN_DOING = 14;
const MAX_NAME = 46;

/** Widths of the name and of what it is doing: the name gets what long names need, not more. */
const flexible = (width: number, columns: readonly Column[]): { name: number; doing: number } => {
  const room = width - 2 - columns.reduce((sum, c) => sum + c.width + 1, 0);
  const name = Math.min(room, MAX_NAME, Math.max(26, Math.floor(room * 0.42)));
  return room - name - 2 < MIN_DOING ? { name: room, doing: 0 } : { name, doing: room - name - 2 };
};

/** In a list the order of start is that of the ages; in a tree it is the order of things. */
const isSorted = ({ sort, id }: Column, view: Screen['view']): boolean =>
  sort === view.sort || (id === 'age' && view.sort === 'start' && view.grouping === 'flat');

export const columnHeader = ({ layout, view, glyphs }: Screen): Line => {
  const columns = columnsFor(layout.treeColumns, view.look.columns);
  const widths = flexible(layout.treeColumns, columns);
  const mark = view.reversed ? glyphs.up : glyphs.down;
  const cellsOf = columns.flatMap(c => {
    const sorted = isSorted(c, view) ? mark : '';
    const header = sorted === '' ? c.header : c.header.slice(0, c.width - 1);
    const text = c.align === 'right' ? sorted + header : header + sorted;
    return [run(toWidth(text, c.width, c.align), 'heading'), run(' ', 'heading')];
  });
  const name = view.sort === 'name' ? `NAME${mark}` : 'NAME';
  return lineToWidth(
    [
      run('  ', 'heading'),
      ...cellsOf,
      run(toWidth(name, widths.name), 'heading'),
      run(
        toWidth(widths.doing > 0 ? '  WHAT AND WHY' : '', widths.doing + (widths.doing > 0 ? 2 : 0)),
        'heading',
      ),
    ],
    layout.treeColumns,
  );
};

const rowLine = (row: Row, screen: Screen, columns: readonly Column[]): Line => {
  const { layout, view, glyphs } = screen;
  const widths = flexible(layout.treeColumns, columns);
  const selected = row.key === view.selected;
  const marked = view.marked.has(row.key);
  const edge: readonly Run[] = [
    run(selected ? glyphs.cursor : ' ', 'title'),
    run(marked ? glyphs.marked : ' ', 'mark'),
  ];
  const cellRuns = columns.flatMap(c => [
    run(
      toWidth(c.text(row), c.width, c.align, glyphs.ellipsis),
      row.context || row.gone ? 'faint' : c.tone(row),
    ),
    run(' '),
  ]);
  const name = lineToWidth(
    nameRuns(row, widths.name, widths.doing === 0, screen),
    widths.name,
    glyphs.ellipsis,
  );
  const what = doing(row, { cells: widths.doing, ellipsis: glyphs.ellipsis });
  const tail =
    widths.doing > 0
      ? [
          run('  '),
          run(toWidth(what.text, widths.doing, 'left', glyphs.ellipsis), row.context ? 'faint' : what.tone),
        ]
      : [];
  const line = lineToWidth([...cellRuns, ...name, ...tail], layout.treeColumns - 2, glyphs.ellipsis);
  const active = view.focus === 'tree' || !layout.tabs;
  return selected ? [...edge, ...inTone(line, active ? 'selected' : 'strong')] : [...edge, ...line];
};

const emptyLines = ({ snapshot, view, layout }: Screen): readonly Line[] => {
  const { processes, agents } = snapshot.totals;
  const texts = view.filter
    ? [`No row matches "${view.filter}".`, 'Esc clears the filter.']
    : agents === 0
      ? [
          `0 recognised of ${plural(processes, 'process', 'processes')}.`,
          'Looked for: claude, codex, gemini, opencode and other agents,',
          'MCP servers, lean-lsp-mcp, lake, lean, and what they left behind.',
          'a shows every process.',
        ]
      : ['Nothing to show.'];
  return texts.map((text, i) =>
    lineToWidth([run('  '), run(text, i === 0 ? 'strong' : 'faint')], layout.treeColumns),
  );
};

/** The visible window of the tree. */
export const treeLines = (screen: Screen): readonly Line[] => {
  const { rows, view, layout } = screen;
  const columns = columnsFor(layout.treeColumns, view.look.columns);
  const lines =
    rows.length === 0
      ? emptyLines(screen)
      : rows.slice(view.top, view.top + layout.treeRows).map(row => rowLine(row, screen, columns));
  return Array.from({ length: layout.treeRows }, (_, i) => lines[i] ?? lineToWidth([], layout.treeColumns));
};
