import { parseElapsed } from '../../model/time.ts';
import { emptyRow, isPid, type RecordedRow } from './table.ts';

/** What a cell did to its row; `out-of-range` condemns the row, not the table. */
export type Cell = 'ok' | 'out-of-range';

export interface TableColumn {
  /** What a cell looks like. A line whose cells do not look so is no row of this table. */
  readonly pattern: string;
  /** Free text with spaces: at most a name and a command per table. */
  readonly text?: 'comm' | 'command';
  readonly put: (row: RecordedRow, cell: string) => Cell;
}

type NumberField = 'pid' | 'ppid' | 'pgid' | 'sid';

const ignore = (): Cell => 'ok';

const pidColumn = (field: NumberField): TableColumn => ({
  pattern: field === 'pid' ? String.raw`-?\d+` : String.raw`-?\d+|-`,
  put: (row, cell) => {
    if (cell === '-') return 'ok';
    row[field] = Number(cell);
    return isPid(Number(cell)) && (field !== 'pid' || cell !== '0') ? 'ok' : 'out-of-range';
  },
});

const KIB: Readonly<Record<string, number>> = { '': 1, k: 1, m: 1024, g: 1024 ** 2, t: 1024 ** 3 };

/** KiB as ps prints them; top and busybox add a letter to large ones. */
const kib = (cell: string): number | null => {
  const m = /^(\d+(?:[.,]\d+)?)([kmgt]?)i?b?$/i.exec(cell);
  return m === null ? null : Math.round(Number(m[1]!.replace(',', '.')) * KIB[m[2]!.toLowerCase()]! * 1024);
};

const memoryColumn = (field: 'rss' | 'virtualSize'): TableColumn => ({
  pattern: String.raw`\d+(?:[.,]\d+)?[kmgtKMGT]?i?B?|-`,
  put: (row, cell) => {
    row[field] = kib(cell);
    return row[field] === null || Number.isSafeInteger(row[field]) ? 'ok' : 'out-of-range';
  },
});

const anyNumber: TableColumn = { pattern: String.raw`-?[\d.,]+|-`, put: ignore };

const ELAPSED = String.raw`(?:\d+-)?[\d:]+(?:\.\d+)?|-`;

const ageColumn: TableColumn = {
  pattern: ELAPSED,
  put: (row, cell) => {
    row.ageSeconds = parseElapsed(cell);
    // A thousand years: beyond that it is a forgery or another column.
    return row.ageSeconds === null || row.ageSeconds < 3.2e10 ? 'ok' : 'out-of-range';
  },
};

/** LSTART's five words, an ISO date, `Feb 13`, else one word. */
const START = String.raw`\S+\s+(?:[^\d\s]\S*\s+\d{1,2}|\d{1,2}\s+[^\d\s]\S*)\s+\d\d:\d\d:\d\d\s+\d{4}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|[A-Z][a-z]{2}\s+\d{1,2}|\S+`;

const startColumn: TableColumn = {
  pattern: START,
  put: (row, cell) => {
    row.startText = cell.replace(/\s+/g, ' ');
    return 'ok';
  },
};

const ownerColumn: TableColumn = {
  pattern: String.raw`\S+`,
  put: (row, cell) => {
    // Names cannot be resolved for another machine; root is the one that is the same everywhere.
    row.uid = /^\d{1,10}$/.test(cell) ? Number(cell) : cell === 'root' ? 0 : null;
    return 'ok';
  },
};

const sessionColumn: TableColumn = {
  // macOS prints a kernel pointer, or 0.
  pattern: String.raw`\S+`,
  put: (row, cell) => {
    row.sid = /^\d+$/.test(cell) && isPid(Number(cell)) && cell !== '0' ? Number(cell) : null;
    return 'ok';
  },
};

const ttyColumn: TableColumn = {
  pattern: String.raw`\S+`,
  put: (row, cell) => {
    row.tty = cell;
    return 'ok';
  },
};

const statColumn: TableColumn = {
  pattern: '[A-Za-z?][A-Za-z+<>|]*|-',
  put: (row, cell) => {
    row.stat = cell;
    return 'ok';
  },
};

const timeColumn: TableColumn = {
  pattern: ELAPSED,
  put: (row, cell) => {
    row.cpuSeconds = parseElapsed(cell);
    return 'ok';
  },
};

const commColumn: TableColumn = {
  // Ends in no space: else a long run of them is tried again from each one.
  pattern: String.raw`\S(?:.*?\S)?`,
  text: 'comm',
  put: (row, cell) => {
    row.comm = cell;
    return 'ok';
  },
};

const commandColumn: TableColumn = {
  pattern: '.*',
  text: 'command',
  put: (row, cell) => {
    row.command = cell;
    return 'ok';
  },
};

const NAME_COLUMN = commColumn;

/** A column we know nothing about holds one word. */
const UNKNOWN_COLUMN: TableColumn = { pattern: String.raw`\S+`, put: ignore };

const named = (names: string, column: TableColumn): [string, TableColumn][] =>
  names.split(' ').map(name => [name, column]);

/** Titles as Linux and macOS print them. */
const COLUMNS: ReadonlyMap<string, TableColumn> = new Map([
  ...named('PID', pidColumn('pid')),
  ...named('PPID', pidColumn('ppid')),
  ...named('PGID PGRP', pidColumn('pgid')),
  ...named('SID SESS SESSION', sessionColumn),
  ...named('TTY TT TNAME', ttyColumn),
  ...named('STAT S STATE', statColumn),
  ...named('RSS RSZ RSSIZE RES', memoryColumn('rss')),
  ...named('VSZ VSIZE VIRT', memoryColumn('virtualSize')),
  ...named('%CPU PCPU %MEM PMEM C', anyNumber),
  ...named('TIME CPUTIME TIME+', timeColumn),
  ...named('ETIME ELAPSED ETIMES', ageColumn),
  ...named('START STARTED STIME LSTART BSDSTART', startColumn),
  ...named('UID USER EUID EUSER RUID RUSER', ownerColumn),
  ...named('COMM UCOMM', commColumn),
  ...named('COMMAND CMD ARGS', commandColumn),
  ...named('NI PRI PR F SZ WCHAN ADDR CLS RTPRIO PSR NLWP FLAGS CPU SHR LWP', UNKNOWN_COLUMN),
]);

/** How to read the lines below one header row. */
export interface TableHeader {
  /** The table has a column for it. */
  readonly has: (field: 'ppid' | 'rss') => boolean;
  /** A row, `null` for a line that cannot be one, or why the row is refused. */
  readonly read: (line: string) => RecordedRow | null | 'out-of-range';
}

interface Title {
  readonly name: string;
  readonly offset: number;
  readonly column: TableColumn;
}

const UPPER_TITLE = /^[A-Z%_][A-Z0-9%_+./-]*$/;
/** procps gives a name 15 cells and a command that is not last 27; a right-aligned title may follow up to 5 further on. */
const NAME_WIDTH = 22;
/** Beyond this the search for columns right of a command would take too long. */
const LONGEST_LINE = 65_536;

const titlesOf = (line: string): Title[] | null => {
  const words = [...line.matchAll(/\S+/g)].map(m => ({ text: m[0], offset: m.index }));
  const upper = words.every(word => UPPER_TITLE.test(word.text));
  if (words.length < 2 || !(upper || words.every(word => COLUMNS.has(word.text.toUpperCase())))) return null;
  const titles = words.map(({ text, offset }) => {
    const name = text.toUpperCase();
    return { name, offset, column: COLUMNS.get(name) ?? UNKNOWN_COLUMN };
  });
  return titles.some(t => t.name === 'PID') && titles.some(t => t.column.text !== undefined) ? titles : null;
};

/** `ps -o pid,comm,args` prints COMMAND twice: the narrow one is the name. */
const settleTwins = (titles: Title[]): Title[] => {
  const commands = titles.filter(t => t.column.text === 'command');
  if (commands.length < 2) return titles;
  const next = titles[titles.indexOf(commands[0]!) + 1]!;
  const firstIsName = next.offset - commands[0]!.offset <= NAME_WIDTH;
  const keep = firstIsName ? commands.at(-1)! : commands[0]!;
  return titles.map(t => (t.column.text === 'command' && t !== keep ? { ...t, column: NAME_COLUMN } : t));
};

/** Two texts side by side have no separator: the header's width of the first one is where it ends. */
const splitTexts = (text: string, width: number): [string, string] => {
  let at = Math.min(width, text.length);
  while (at < text.length && !/\s/.test(text[at - 1]!)) at += 1;
  return [text.slice(0, at).trim(), text.slice(at).trim()];
};

/** `ps f` draws four cells a level: ` |   \_ `; null: nothing is drawn on this line. */
const drawnDepth = (text: string): number | null => {
  const art = /^\s((?:[| ]{4})* \\_ )/.exec(text);
  return art === null ? null : art[1]!.length / 4;
};

/** The reader for a header row, or null when the line is none. */
export const readHeader = (line: string): TableHeader | null => {
  // Most lines are no header: do not take them apart to find out.
  const found = /pid/i.test(line) ? titlesOf(line) : null;
  if (found === null) return null;
  const titles = settleTwins(found);
  const lastText = titles.findLastIndex(t => t.column.text !== undefined);
  const adjacent = lastText > 0 && titles[lastText - 1]!.column.text !== undefined;
  const groups = adjacent ? titles.toSpliced(lastText - 1, 1) : titles;
  const last = adjacent ? lastText - 1 : lastText;
  const name = groups.findIndex(title => title.column.text !== undefined);
  const patternOf = ({ column }: Title, index: number): string => {
    // The last text takes all it can; columns right of it are found from the end of the line, but for its spaces.
    if (index === last) return last === groups.length - 1 ? '.*' : String.raw`(?:.*\S)?`;
    // A second name with spaces could end anywhere, and a third anywhere for each of these: they hold one word.
    return column.text === undefined || index === name ? column.pattern : UNKNOWN_COLUMN.pattern;
  };
  const source = groups.map((title, index) => {
    const gap = index === 0 ? String.raw`\s*` : index === last ? String.raw`(?:\s+|$)` : String.raw`\s+`;
    return `${gap}(${patternOf(title, index)})`;
  });
  const pattern = new RegExp(`^${source.join('')}\\s*$`);
  const width = adjacent ? titles[lastText]!.offset - titles[lastText - 1]!.offset : 0;

  const before = new RegExp(`^${source.slice(0, last).join('')}`);
  const titled = (names: string): boolean => titles.some(({ name }) => names.split(' ').includes(name));

  const put = (row: RecordedRow, title: Title, cell: string): boolean =>
    title.column.put(row, cell.trim()) === 'ok';

  return {
    has: field => titled(field === 'ppid' ? 'PPID' : 'RSS RSZ RSSIZE RES'),
    read: line => {
      if (last !== groups.length - 1 && line.length > LONGEST_LINE) return null;
      const cells = pattern.exec(line);
      if (cells === null) return null;
      const row = emptyRow();
      const fine = groups.every((title, index) => {
        const cell = cells[index + 1]!;
        if (index !== last || !adjacent) return put(row, title, cell);
        const [left, right] = splitTexts(cell, width);
        return put(row, titles[lastText - 1]!, left) && put(row, title, right);
      });
      if (fine && last === groups.length - 1)
        row.drawn = drawnDepth(line.slice(before.exec(line)![0].length));
      return fine ? row : 'out-of-range';
    },
  };
};
