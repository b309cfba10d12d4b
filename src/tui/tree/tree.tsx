import { Box } from 'ink';
import { memo, type ReactNode, useMemo } from 'react';
import { beatText } from '../../model/heartbeat.ts';
import type { Grouping } from '../../model/levels.ts';
import { memoryOf } from '../../model/process.ts';
import { cut } from '../../model/text.ts';
import type { Level } from '../../model/ui-settings.ts';
import { formatAge, plural, spellBytes } from '../../model/units.ts';
import { useMouse } from '../keys/use-mouse.ts';
import { positionText } from '../panels/panel.tsx';
import { type Screen, selectedRow } from '../screen.ts';
import { isWhole } from '../state.ts';
import type { Store } from '../store.ts';
import { Frame } from '../ui/frame.tsx';
import type { Glyphs } from '../ui/glyphs.ts';
import { Line, Lines } from '../ui/line.tsx';
import { clickable, onSelected, type Runs, run, runsToWidth, toWidth } from '../ui/runs.ts';
import { useScreen } from '../ui/use-screen.ts';
import { type Column, columnsFor, doing } from './columns.ts';
import { nameRuns } from './row-name.ts';
import { type Row, SORTS, type SortId } from './row-order.ts';
import { list } from './tree-keys.ts';
import { CLICK, WHEEL } from './tree-mouse.ts';

/** The names of the columns, and the rows in view. */
export const TreeView = (): ReactNode => {
  const screen = useScreen();
  const { layout, view } = screen;
  const wheel = useMouse(WHEEL);
  const click = useMouse(CLICK);
  const inside = (
    <>
      {layout.columnRow && <ColumnNames />}
      <Box ref={click} flexShrink={0}>
        <TreeRows most={layout.treeRows} />
      </Box>
    </>
  );
  return (
    <Box
      ref={wheel}
      flexDirection="column"
      flexShrink={0}
      width={layout.treeColumns + (layout.framed ? 2 : 0)}
      aria-label={selectedSentence(screen)}
      aria-hidden={view.focus !== 'tree'}
    >
      {layout.framed ? (
        <Frame
          width={layout.treeColumns + 2}
          rows={layout.treeRows + (layout.columnRow ? 1 : 0)}
          active={view.focus === 'tree'}
          title={[run(` ${titleOf(view)} `, 'strong')]}
          right={[run(` ${GROUPED_BY[view.grouping]} `, 'faint')]}
          below={caption(screen)}
          belowRight={[run(positionText(screen), 'faint')]}
        >
          {inside}
        </Frame>
      ) : (
        inside
      )}
    </Box>
  );
};

const LEVEL_TITLES = { 1: 'Sessions', 2: 'Sessions and servers', 3: 'Processes' } satisfies Record<
  Level,
  string
>;

const titleOf = ({ grouping, level }: Screen['view']): string =>
  grouping === 'flat' ? 'Processes' : LEVEL_TITLES[level];

const GROUPED_BY = { tmux: 'by tmux', project: 'by project', flat: 'one list' } satisfies Record<
  Grouping,
  string
>;

/** In the lower edge: why the selected row is judged as it is, where the row has no room for it. */
const caption = (screen: Screen): Runs => {
  const row = selectedRow(screen);
  const room = screen.layout.treeColumns - 22;
  if (!row || room < 20) return [];
  const text = captionText(row);
  return text === '' ? [] : [run(` ${cut(text, room, screen.glyphs.ellipsis)} `, 'faint')];
};

const captionText = (row: Row): string => {
  const p = row.process;
  if (row.gone || !p) return doing(row).text;
  if (row.beat) return beatText(row.beat);
  return p.verdict === 'live' ? p.why.join('; ') : `${p.verdict}: ${p.why.join('; ')}`;
};

/** At most so many of the rows in view. */
export const TreeRows = ({ most }: { readonly most: number }): ReactNode => {
  const { rows, view, layout, glyphs } = useScreen();
  const { treeColumns: width } = layout;
  const whole = isWhole(view);
  const columns = useMemo(
    () => columnsFor(width, view.look.columns, whole),
    [width, view.look.columns, whole],
  );
  const active = view.focus === 'tree' || !layout.tabs;
  return (
    <Box flexDirection="column" flexShrink={0} height={most} width={width}>
      {rows.length === 0 && <NoRows />}
      {rows.slice(view.top, view.top + most).map(row => (
        <TreeRow
          key={row.key}
          row={row}
          selected={row.key === view.selected}
          active={active}
          marked={view.marked.has(row.key)}
          search={view.search}
          columns={columns}
          width={width}
          glyphs={glyphs}
        />
      ))}
    </Box>
  );
};

interface RowProps {
  readonly row: Row;
  readonly selected: boolean;
  /** The tree has the keys. */
  readonly active: boolean;
  readonly marked: boolean;
  readonly search: string;
  readonly columns: readonly Column[];
  readonly width: number;
  readonly glyphs: Glyphs;
}

/** A process or a heading. A key that moves the selection renders two of these again, not all of them. */
const TreeRow = memo(function TreeRow(props: RowProps): ReactNode {
  const { row, selected, active, marked, search, columns, width, glyphs } = props;
  const widths = flexible(width, columns);
  const dim = row.context || row.gone;
  const edge = [run(selected ? glyphs.cursor : ' ', 'cursor'), run(marked ? glyphs.marked : ' ', 'mark')];
  const cells = columns.flatMap(column => [
    run(
      toWidth(column.text(row), column.width, column.align, glyphs.ellipsis),
      dim ? 'faint' : column.tone(row),
    ),
    run(' '),
  ]);
  const alone = widths.doing === 0;
  const name = nameRuns(row, widths.name, alone, { glyphs, view: { search } });
  const what = doing(row, { cells: widths.doing, ellipsis: glyphs.ellipsis });
  const told = toWidth(what.text, widths.doing, 'left', glyphs.ellipsis);
  const tail = widths.doing > 0 ? [run('  '), run(told, row.context ? 'faint' : what.tone)] : [];
  const line = runsToWidth(
    [...cells, ...runsToWidth(name, widths.name, glyphs.ellipsis), ...tail],
    width - 2,
    glyphs.ellipsis,
  );
  return <Line runs={selected && active ? onSelected([...edge, ...line]) : [...edge, ...line]} />;
});

const NoRows = (): ReactNode => {
  const { snapshot, view, layout } = useScreen();
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
  return (
    <Lines
      of={texts.map((text, i) => [run('  '), run(text, i === 0 ? 'strong' : 'faint')])}
      width={layout.treeColumns}
    />
  );
};

/** A click on the name of a column lists by it; again: reversed. */
const SORTING = Object.fromEntries(SORTS.map(sort => [sort, (store: Store) => list(store, sort)])) as Record<
  SortId,
  (store: Store) => void
>;

export const ColumnNames = (): ReactNode => {
  const { layout, view, glyphs } = useScreen();
  const width = layout.treeColumns;
  const columns = columnsFor(width, view.look.columns, isWhole(view));
  const widths = flexible(width, columns);
  const mark = view.reversed ? glyphs.up : glyphs.down;
  const cells = columns.flatMap(column => {
    const sorted = isSorted(column, view) ? mark : '';
    const header = sorted === '' ? column.header : column.header.slice(0, column.width - 1);
    const text = column.align === 'right' ? sorted + header : header + sorted;
    const head = run(toWidth(text, column.width, column.align), 'heading');
    return [column.sort === null ? head : clickable(head, { go: SORTING[column.sort] }), run(' ', 'heading')];
  });
  const name = view.sort === 'name' ? `NAME${mark}` : 'NAME';
  const what = widths.doing > 0 ? toWidth('  DOING', widths.doing + 2) : '';
  return (
    <Line
      runs={[
        run('  ', 'heading'),
        ...cells,
        run(toWidth(name, widths.name), 'heading'),
        run(what, 'heading'),
      ]}
      width={width}
    />
  );
};

/** `claude, agent, process 1342, live, 412 MiB, up 5h12m, marked`. */
const rowSentence = (row: Row, marked: boolean): string => {
  if (row.group)
    return `${row.group.title}, ${plural(row.count, 'process', 'processes')}, ${spellBytes(row.treeBytes)}`;
  const p = row.process!;
  const zombies = p.zombies > 0 ? `, has ${plural(p.zombies, 'zombie child', 'zombie children')}` : '';
  const what = doing(row).text;
  return `${p.name}, ${p.kind}, process ${p.facts.pid}, ${p.verdict}, ${spellBytes(memoryOf(p.facts))}, up ${formatAge(p.ageSeconds)}${zombies}${marked ? ', marked' : ''}${what ? `: ${what}` : ''}`;
};

/** The selected row for a screen reader: a list of all rows would take minutes to hear. */
const selectedSentence = (screen: Screen): string => {
  const { view, rows, snapshot } = screen;
  const row = selectedRow(screen);
  return row
    ? `Row ${view.selectedIndex + 1} of ${rows.length}: ${rowSentence(row, view.marked.has(row.key))}`
    : `0 recognised of ${snapshot.totals.processes} processes.`;
};

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
