import { formatAge, plural } from '../../model/format.ts';
import type { Kind } from '../../model/kind.ts';
import { cells } from '../../model/width.ts';
import { beatAlarm } from '../../words/heartbeat.ts';
import { sessionBrief } from '../../words/session.ts';
import { type Column, columnsFor } from '../look/columns.ts';
import type { Glyphs } from '../look/glyphs.ts';
import type { Tone } from '../look/theme.ts';
import { beatTone, doing, sessionTone } from '../view/activity.ts';
import { inTone, type Line, lineToWidth, lineWidth, type Run, run, toWidth } from '../view/line.ts';
import { matcher } from '../view/row-filter.ts';
import type { Row } from '../view/rows.ts';
import type { Screen } from '../view/screen.ts';

const KIND_TONES = {
  agent: 'agent',
  mcp: 'server',
  'lean-lsp': 'server',
  lake: 'build',
  lean: 'build',
  tmux: 'plain',
  wrapper: 'faint',
  shell: 'faint',
  browser: 'plain',
  other: 'plain',
} satisfies Record<Kind, Tone>;

const MIN_DOING = 14;
const MAX_NAME = 46;

/** Widths of the name and of what it is doing: the name gets what long names need, not more. */
const flexible = (width: number, columns: readonly Column[]): { name: number; doing: number } => {
  const room = width - 2 - columns.reduce((sum, c) => sum + c.width + 1, 0);
  const name = Math.min(room, MAX_NAME, Math.max(26, Math.floor(room * 0.42)));
  return room - name - 2 < MIN_DOING ? { name: room, doing: 0 } : { name, doing: room - name - 2 };
};

/** Deep trees in a narrow pane keep the end of the trail: who the parent is matters more than the grandparents. */
const trailText = (trail: string, room: number, glyphs: Glyphs): string => {
  const limit = Math.max(1, Math.floor((room - 12) / 2));
  const shown = trail.length > limit ? trail.slice(-limit) : trail;
  let text = '';
  for (const step of shown)
    text +=
      step === 'I'
        ? glyphs.through
        : step === ' '
          ? glyphs.gap
          : step === 'T'
            ? glyphs.branch
            : glyphs.lastBranch;
  return text;
};

/** In a side pane without room for what a process does, a silent agent still stands out. */
const isLoud = ({ beat }: Row): boolean => beat?.state === 'warn' || beat?.state === 'critical';

const alarmText = (row: Row): string => (isLoud(row) ? ` ${beatAlarm(row.beat!)}` : '');

/** While something is searched for, what matches stands out and nothing is hidden. */
const nameTone = (row: Row, { search }: Screen['view']): Tone => {
  if (row.context || row.gone) return 'faint';
  const found = search !== '' && matcher(search)?.(row.process!);
  return found ? 'mark' : KIND_TONES[row.process!.kind];
};

/** Fewer cells of a project's name than this tell nothing. */
const MIN_PROJECT = 3;

/**
 * In a side pane an agent's row still says which session it is and what it is doing: ` proofs  waits 12m`. Where
 * there is little room the project is cut, not what it is doing.
 */
const sessionRuns = (row: Row, room: number, ellipsis: string): readonly Run[] => {
  const session = row.process?.session;
  if (!session) return [];
  const brief = isLoud(row) && session.doing !== 'waiting' ? '' : sessionBrief(session);
  const project = session.project ?? '';
  const gap = cells(project) + cells(brief) + 3 <= room ? '  ' : ' ';
  const told = brief && `${gap}${brief}`;
  const left = room - cells(told) - 1;
  const shown =
    left < Math.min(MIN_PROJECT, cells(project))
      ? ''
      : toWidth(project, Math.min(left, cells(project)), 'left', ellipsis);
  return [run(shown && ` ${shown}`), run(cells(told) <= room ? told : '', sessionTone(session))];
};

const nameRuns = (row: Row, room: number, alone: boolean, { glyphs, view }: Screen): readonly Run[] => {
  const fold = row.foldable ? `${row.folded ? glyphs.closed : glyphs.open} ` : '';
  if (row.group) {
    const spelled = plural(row.count, 'process', 'processes');
    const fits = cells(fold) + cells(row.group.title) + 2 + spelled.length <= room;
    const count = run(`  ${fits ? spelled : row.count}`, 'faint');
    return [run(fold, row.group.tone), run(row.group.title, row.group.tone), count];
  }
  const p = row.process!;
  const trail = trailText(row.trail, room, glyphs);
  const zombies = p.zombies > 0 ? ` Z${glyphs.times}${p.zombies}` : '';
  const hidden = row.folded && row.count > 1 ? ` +${row.count - 1}` : '';
  const alarm = alone ? alarmText(row) : '';
  const free = room - cells(trail) - cells(fold) - cells(zombies) - cells(hidden) - cells(alarm);
  const session = alone ? sessionRuns(row, free - cells(p.name), glyphs.ellipsis) : [];
  const left = free - lineWidth(session);
  return [
    run(trail, 'rule'),
    run(fold, 'faint'),
    run(
      toWidth(p.name, Math.min(cells(p.name), Math.max(1, left)), 'left', glyphs.ellipsis),
      nameTone(row, view),
    ),
    ...session,
    run(alarm, row.beat ? beatTone(row.beat) : 'plain'),
    run(zombies, 'warn'),
    run(hidden, 'faint'),
  ];
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
  const what = doing(row);
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
