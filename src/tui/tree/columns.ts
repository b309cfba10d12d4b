import { type Doing, describe, noteOnScreen } from '../../model/overview.ts';
import { knownMemory, memoryOf } from '../../model/process.ts';
import { type Room, VERDICT_WORDS } from '../../model/snapshot.ts';
import type { ColumnId } from '../../model/ui-settings.ts';
import { formatAge, formatBytes } from '../../model/units.ts';
import type { Align } from '../ui/runs.ts';
import type { ThemeTone } from '../ui/theme.ts';
import type { Row, SortId } from './row-order.ts';

export interface Column {
  readonly id: ColumnId;
  readonly header: string;
  readonly width: number;
  readonly align: Align;
  /** Kept while the screen has at least this many columns. */
  readonly from: number;
  readonly description: string;
  readonly sort: SortId | null;
  text(row: Row): string;
  tone(row: Row): ThemeTone;
}

/** Quiet until it matters: 0 is left out, so that busy processes stand out of the column. */
const cpuText = (cpu: number | null): string => {
  if (cpu === null) return '-';
  return cpu < 0.5 ? '' : String(Math.round(cpu));
};

const LOUD_BYTES = 1024 ** 3;
const LOUD_CPU = 80;

const loudMemory = (bytes: number): ThemeTone => (bytes >= LOUD_BYTES ? 'warn' : 'plain');

export const COLUMNS: readonly Column[] = [
  {
    id: 'verdict',
    header: '',
    width: 4,
    align: 'left',
    from: 0,
    description: 'verdict: live, LEAK (proven), susp(ect), prot(ected), ? (unknown)',
    sort: null,
    text: row => (row.gone ? 'gone' : row.process ? VERDICT_WORDS[row.process.verdict] : ''),
    tone: row => row.process?.verdict ?? 'plain',
  },
  {
    id: 'pid',
    header: 'PID',
    width: 7,
    align: 'right',
    from: 52,
    description: 'process id',
    sort: 'pid',
    text: row => (row.process ? String(row.process.facts.pid) : ''),
    tone: () => 'faint',
  },
  {
    id: 'mem',
    header: 'MEM',
    width: 4,
    align: 'right',
    from: 0,
    description: 'memory: RSS + swap of the process; of the whole group on a heading',
    sort: 'memory',
    text: row => formatBytes(row.process ? knownMemory(row.process.facts) : row.treeBytes),
    tone: row => (row.process ? loudMemory(memoryOf(row.process.facts)) : 'strong'),
  },
  {
    id: 'tree',
    header: 'TREE',
    width: 4,
    align: 'right',
    from: 96,
    description: 'RSS + swap of the process and everything below it',
    sort: 'tree',
    text: row => (row.process && row.count > 1 ? formatBytes(row.treeBytes) : ''),
    tone: row => loudMemory(row.treeBytes),
  },
  {
    id: 'cpu',
    header: 'CPU%',
    width: 4,
    align: 'right',
    from: 46,
    description: 'percent of one core since the last refresh',
    sort: 'cpu',
    text: row => (row.process ? cpuText(row.process.facts.cpu) : ''),
    tone: row => ((row.process?.facts.cpu ?? 0) >= LOUD_CPU ? 'warn' : 'plain'),
  },
  {
    id: 'age',
    header: 'AGE',
    width: 6,
    align: 'right',
    from: 0,
    description: 'time since it started',
    sort: 'newest',
    text: row => (row.process ? formatAge(row.process.ageSeconds) : ''),
    tone: () => 'plain',
  },
  {
    id: 'state',
    header: 'S',
    width: 1,
    align: 'left',
    from: 56,
    description: 'state as ps prints it: R running, S sleeping, D in I/O, T stopped, Z zombie',
    sort: null,
    text: row => row.process?.facts.state ?? '',
    tone: row => (/[TDZ]/.test(row.process?.facts.state ?? '') ? 'warn' : 'faint'),
  },
  {
    id: 'kind',
    header: 'KIND',
    width: 8,
    align: 'left',
    from: 150,
    description: 'what it is: agent, mcp, lean-lsp, lake, lean, wrapper, shell…',
    sort: null,
    text: row => row.process?.kind ?? '',
    tone: () => 'faint',
  },
  {
    id: 'tty',
    header: 'TTY',
    width: 6,
    align: 'left',
    from: 170,
    description: 'terminal',
    sort: null,
    text: row => row.process?.facts.tty ?? '',
    tone: () => 'faint',
  },
];

/** Least room left for the name, however many columns are asked for. */
const NAME_ROOM = 18;

/** The columns for this width, in table order, or the user's own choice as far as it fits. */
export const columnsFor = (width: number, chosen: readonly ColumnId[] | null): readonly Column[] => {
  const wanted = chosen
    ? chosen.flatMap(id => COLUMNS.find(c => c.id === id) ?? [])
    : COLUMNS.filter(c => width >= c.from);
  const fitting: Column[] = [];
  let used = 2;
  for (const column of wanted) {
    if (used + column.width + 1 + NAME_ROOM > width) continue;
    used += column.width + 1;
    fitting.push(column);
  }
  return fitting;
};

/** What a row says of its process, in one line. */
export const doing = (row: Row, room?: Room): Doing => {
  if (row.gone) return { text: row.process ? 'it has ended' : 'all ended', tone: 'faint' };
  if (row.process) return describe(row.process, row, room);
  return { text: row.group ? noteOnScreen(row.group) : '', tone: 'faint' };
};
