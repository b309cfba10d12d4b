import { type Alarm, type Doing, describe } from '../../model/levels.ts';
import { knownMemory, memoryOf } from '../../model/process.ts';
import { type Room, VERDICT_WORDS, type Verdict } from '../../model/snapshot.ts';
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
  /** Kept while the tree has at least this many columns. */
  readonly from: number;
  /** The same where rows stand for whole trees. */
  readonly fromWhole: number;
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

/** A title over other rows has no figures but its memory. */
const isHeading = ({ group }: Row): boolean => group?.shown === 'heading';

const ALARM_WORDS = { waiting: 'WAIT', hung: 'HUNG', critical: 'crit' } satisfies Record<Alarm, string>;
const ALARM_TONES = { waiting: 'warn', hung: 'bad', critical: 'bad' } satisfies Record<Alarm, ThemeTone>;

/** What is as it should be has no mark; what is below a leak is marked by it. */
const marked = (row: Row): Verdict | null => {
  if (row.group) return row.group.tone === 'leak' || row.group.tone === 'suspect' ? row.group.tone : null;
  const verdict = row.process?.verdict ?? 'live';
  if (verdict === 'live' || row.inherits) return null;
  return verdict === 'unknown' && row.process?.related === false ? null : verdict;
};

const markText = (row: Row): string => {
  if (row.gone) return 'gone';
  if (row.alarm !== null) return ALARM_WORDS[row.alarm];
  const verdict = marked(row);
  return verdict === null ? '' : VERDICT_WORDS[verdict];
};

const markTone = (row: Row): ThemeTone =>
  row.alarm === null ? (marked(row) ?? 'plain') : ALARM_TONES[row.alarm];

const portsText = (ports: readonly number[]): string => {
  const [first, ...more] = ports;
  return first === undefined ? '' : `:${first}${more.length > 0 ? '+' : ''}`;
};

export const COLUMNS: readonly Column[] = [
  {
    id: 'verdict',
    header: 'MARK',
    width: 4,
    align: 'left',
    from: 0,
    fromWhole: 0,
    description: 'what to look at: WAIT, HUNG, crit(ical), LEAK, susp(ect), prot(ected)',
    sort: null,
    text: markText,
    tone: markTone,
  },
  {
    id: 'pid',
    header: 'PID',
    width: 7,
    align: 'right',
    from: 50,
    fromWhole: 68,
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
    fromWhole: 130,
    description: 'memory: RSS + swap of the process; of the whole group on a heading',
    sort: 'memory',
    text: row =>
      row.process ? formatBytes(knownMemory(row.process.facts)) : row.whole ? '' : formatBytes(row.treeBytes),
    tone: row => (row.process ? loudMemory(memoryOf(row.process.facts)) : 'strong'),
  },
  {
    id: 'tree',
    header: 'TREE',
    width: 4,
    align: 'right',
    from: 94,
    fromWhole: 0,
    description: 'RSS + swap of the process and everything below it',
    sort: 'tree',
    text: row => (row.whole || (row.process && row.count > 1) ? formatBytes(row.treeBytes) : ''),
    tone: row => (row.process || row.trail !== '' ? loudMemory(row.treeBytes) : 'strong'),
  },
  {
    id: 'cpu',
    header: 'CPU%',
    width: 4,
    align: 'right',
    from: 44,
    fromWhole: 44,
    description: 'percent of one core since the last refresh; of the whole tree where rows stand for trees',
    sort: 'cpu',
    text: row => (isHeading(row) ? '' : cpuText(row.cpu)),
    tone: row => ((row.cpu ?? 0) >= LOUD_CPU ? 'warn' : 'plain'),
  },
  {
    id: 'age',
    header: 'AGE',
    width: 6,
    align: 'right',
    from: 0,
    fromWhole: 62,
    description: 'time since it started',
    sort: 'newest',
    text: row => (isHeading(row) ? '' : formatAge(row.ageSeconds)),
    tone: () => 'plain',
  },
  {
    id: 'state',
    header: 'S',
    width: 1,
    align: 'left',
    from: 54,
    fromWhole: 100,
    description: 'state, unless it sleeps: R running, D in I/O, T stopped, Z zombie',
    sort: null,
    text: row => (row.process?.facts.state ?? '').replace('S', ''),
    tone: row => (/[TDZ]/.test(row.process?.facts.state ?? '') ? 'warn' : 'faint'),
  },
  {
    id: 'ports',
    header: 'PORTS',
    width: 6,
    align: 'left',
    from: 116,
    fromWhole: 116,
    description: 'TCP ports that it listens on',
    sort: null,
    text: row => portsText(row.ports),
    tone: () => 'plain',
  },
  {
    id: 'kind',
    header: 'KIND',
    width: 8,
    align: 'left',
    from: 148,
    fromWhole: 168,
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
    from: 168,
    fromWhole: 188,
    description: 'terminal',
    sort: null,
    text: row => row.process?.facts.tty ?? '',
    tone: () => 'faint',
  },
];

/** Least room left for the name, however many columns are asked for. */
const NAME_ROOM = 18;

/** The columns for this width, in table order, or the user's own choice as far as it fits. `whole`: rows stand for trees. */
export const columnsFor = (
  width: number,
  chosen: readonly ColumnId[] | null,
  whole = false,
): readonly Column[] => {
  const wanted = chosen
    ? chosen.flatMap(id => COLUMNS.find(c => c.id === id) ?? [])
    : COLUMNS.filter(c => width >= (whole ? c.fromWhole : c.from));
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
  if (row.process) return describe(row.runs ?? row.process, row, room);
  return { text: row.group ? row.group.note : '', tone: 'faint' };
};
