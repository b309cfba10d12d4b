import { parseElapsed } from '../../model/time.ts';
import { isPid, type Row } from './row.ts';

/** What a cell did to its row; `out-of-range` condemns the row, not the table. */
export type Cell = 'ok' | 'out-of-range';

export interface Column {
  /** What a cell looks like. A line whose cells do not look so is no row of this table. */
  readonly pattern: string;
  /** Free text with spaces: at most a name and a command per table. */
  readonly text?: 'comm' | 'command';
  readonly put: (row: Row, cell: string) => Cell;
}

type NumberField = 'pid' | 'ppid' | 'pgid' | 'sid';

const ignore = (): Cell => 'ok';

const pidColumn = (field: NumberField): Column => ({
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

const memoryColumn = (field: 'rss' | 'virtualSize'): Column => ({
  pattern: String.raw`\d+(?:[.,]\d+)?[kmgtKMGT]?i?B?|-`,
  put: (row, cell) => {
    row[field] = kib(cell);
    return row[field] === null || Number.isSafeInteger(row[field]) ? 'ok' : 'out-of-range';
  },
});

const anyNumber: Column = { pattern: String.raw`-?[\d.,]+|-`, put: ignore };

const ELAPSED = String.raw`(?:\d+-)?[\d:]+(?:\.\d+)?|-`;

const ageColumn: Column = {
  pattern: ELAPSED,
  put: (row, cell) => {
    row.ageSeconds = parseElapsed(cell);
    // A thousand years: beyond that it is a forgery or another column.
    return row.ageSeconds === null || row.ageSeconds < 3.2e10 ? 'ok' : 'out-of-range';
  },
};

/** LSTART's five words, an ISO date, `Feb 13`, else one word. */
const START = String.raw`\S+\s+(?:[^\d\s]\S*\s+\d{1,2}|\d{1,2}\s+[^\d\s]\S*)\s+\d\d:\d\d:\d\d\s+\d{4}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|[A-Z][a-z]{2}\s+\d{1,2}|\S+`;

const startColumn: Column = {
  pattern: START,
  put: (row, cell) => {
    row.startText = cell.replace(/\s+/g, ' ');
    return 'ok';
  },
};

const ownerColumn: Column = {
  pattern: String.raw`\S+`,
  put: (row, cell) => {
    // Names cannot be resolved for another machine; root is the one that is the same everywhere.
    row.uid = /^\d{1,10}$/.test(cell) ? Number(cell) : cell === 'root' ? 0 : null;
    return 'ok';
  },
};

const sessionColumn: Column = {
  // macOS prints a kernel pointer, or 0.
  pattern: String.raw`\S+`,
  put: (row, cell) => {
    row.sid = /^\d+$/.test(cell) && isPid(Number(cell)) && cell !== '0' ? Number(cell) : null;
    return 'ok';
  },
};

const ttyColumn: Column = {
  pattern: String.raw`\S+`,
  put: (row, cell) => {
    row.tty = cell;
    return 'ok';
  },
};

const statColumn: Column = {
  pattern: '[A-Za-z?][A-Za-z+<>|]*|-',
  put: (row, cell) => {
    row.stat = cell;
    return 'ok';
  },
};

const timeColumn: Column = {
  pattern: ELAPSED,
  put: (row, cell) => {
    row.cpuSeconds = parseElapsed(cell);
    return 'ok';
  },
};

const commColumn: Column = {
  // Ends in no space: else a long run of them is tried again from each one.
  pattern: String.raw`\S(?:.*?\S)?`,
  text: 'comm',
  put: (row, cell) => {
    row.comm = cell;
    return 'ok';
  },
};

const commandColumn: Column = {
  pattern: '.*',
  text: 'command',
  put: (row, cell) => {
    row.command = cell;
    return 'ok';
  },
};

export const NAME_COLUMN = commColumn;

/** A column we know nothing about holds one word. */
export const UNKNOWN_COLUMN: Column = { pattern: String.raw`\S+`, put: ignore };

const named = (names: string, column: Column): [string, Column][] =>
  names.split(' ').map(name => [name, column]);

/** Titles as Linux and macOS print them. */
export const COLUMNS: ReadonlyMap<string, Column> = new Map([
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
