import { readHeader, type TableHeader } from './columns.ts';
import type { RecordedRow } from './table.ts';

export interface ListedRows {
  readonly rows: readonly RecordedRow[];
  readonly warnings: readonly string[];
}

/** More rows than any machine has processes: this is not a listing. */
export const MOST_ROWS = 200_000;

const COLOUR = /\x1b\[[0-9;]*[A-Za-z]/g;
const FENCE = /^\s*(?:```|~~~)/;
/** What `watch` and `top` print above each table. */
const BANNER = /^(?:Every \d|top - |Tasks: |%Cpu|[KM]iB (?:Mem|Swap))/;
/** The shell asking for the next command: `me@box:~$`, `[me@box ~]#`, `$ ps`, `❯`. */
const PROMPT = /^\s*(?:\[?[\w.-]+@[\w.-][^\s$#%>]*(?:\s[^\s$#%>]+)?\s?[$#%>](?:\s|$)|[$%❯➜](?:\s|$))/u;
/** `ps axf` draws the family: ` |   \_ `. */
const TREE_ART = /^(?:[|\s]*\\_ )+/;

/** A terminal that wraps cuts words anywhere; anything else breaks between words. */
const joinWrapped = (command: string, line: string, previousLength: number, widest: number): string =>
  previousLength === widest && widest >= 79 ? command + line : `${command} ${line.trim()}`;

/** Reads a `ps` listing: noise around it, repeated headers and wrapped lines included. Null when no header row is found. */
export const readListing = (text: string): ListedRows | null => {
  const lines = (text.includes('\x1b') ? text.replace(COLOUR, '') : text).split(/\r\n|\n|\r/);
  // Pages of one listing repeat their header: read it once.
  const known = new Map<string, TableHeader>();
  const widest = lines.reduce((most, line) => Math.max(most, line.length), 0);
  const rows: RecordedRow[] = [];
  let header: TableHeader | null = null;
  let refused = 0;
  let told: Told = { parents: true, memory: true };
  /** Rows that end in the last column of the widest line, and go on nowhere. */
  const full = new Set<RecordedRow>();
  /** The row a continuation line would belong to. */
  let open: RecordedRow | null = null;
  let previousLength = 0;
  for (const line of lines) {
    if (rows.length === MOST_ROWS || refused === MOST_ROWS) break;
    const next = line.trim() === '' ? null : (known.get(line) ?? readHeader(line));
    if (next !== null) {
      known.set(line, next);
      header = next;
      told = { parents: told.parents && next.has('ppid'), memory: told.memory && next.has('rss') };
      open = null;
      continue;
    }
    if (header === null) continue;
    if (line.trim() === '' || FENCE.test(line) || BANNER.test(line) || PROMPT.test(line)) {
      open = null;
      continue;
    }
    const row = header.read(line);
    if (row === 'out-of-range') {
      refused += 1;
      open = null;
    } else if (row !== null) {
      row.command = row.command?.replace(TREE_ART, '') ?? null;
      rows.push(row);
      open = row;
      if (line.length === widest) full.add(row);
    } else if (open !== null && open.command !== null) {
      full.delete(open);
      open.command = joinWrapped(open.command, line, previousLength, widest);
    } else refused += 1;
    previousLength = line.length;
  }
  if (header === null) return null;
  const drawn = !told.parents && adoptDrawnParents(rows);
  return {
    rows,
    warnings: [
      ...refusals(refused, rows.length),
      ...missing({ ...told, parents: told.parents || drawn }),
      ...(isCut(full, rows, widest) ? [cutWarning(widest)] : []),
    ],
  };
};

interface Told {
  readonly parents: boolean;
  readonly memory: boolean;
}

/** What to run for a table that holds all that is needed. */
export const WHOLE_PS = 'ps -axwwo pid,ppid,pgid,tty,stat,rss,etime,command';

const missing = ({ parents, memory }: Told): string[] => [
  ...(parents
    ? []
    : [`This table has no PPID column, so nothing in it can be judged. Record it with: ${WHOLE_PS}`]),
  ...(memory ? [] : [`This table has no RSS column, so memory is unknown. Record it with: ${WHOLE_PS}`]),
];

const cutWarning = (widest: number): string =>
  `Lines are cut at column ${widest}, so agents and servers may be missing. Record it with: ${WHOLE_PS}`;

/** Below this a table has few columns, not a narrow terminal. */
const LEAST_CUT = 60;
const LEAST_FULL_ROWS = 3;

/** A terminal or a pipe to `cut` ends many lines of different commands in the very same column. */
const isCut = (full: ReadonlySet<RecordedRow>, rows: readonly RecordedRow[], widest: number): boolean => {
  if (widest < LEAST_CUT || full.size < Math.max(LEAST_FULL_ROWS, rows.length / 50)) return false;
  return new Set(Array.from(full, ({ command }) => command?.slice(0, 20))).size >= LEAST_FULL_ROWS;
};

/**
 * `ps auxf` has no PPID column and draws the families instead; children of PID 1 stand at the left like their parent.
 * A line whose parent was filtered out keeps no parent. True: something was drawn.
 */
const adoptDrawnParents = (rows: readonly RecordedRow[]): boolean => {
  if (rows.every(({ drawn }) => drawn === null)) return false;
  const hasFirst = rows.some(({ pid }) => pid === 1);
  const above: (number | null)[] = [];
  for (const row of rows) {
    const depth = row.drawn ?? 0;
    above.length = Math.min(above.length, depth);
    if (depth > 0) row.ppid = (above.length === depth ? above[depth - 1] : null) ?? null;
    else if (hasFirst) row.ppid = row.pid === 1 || row.pid === 2 ? 0 : 1;
    above[depth] = row.pid;
  }
  return true;
};

const refusals = (refused: number, read: number): string[] => [
  ...(refused === 0
    ? []
    : [
        `${refused} line${refused === 1 ? '' : 's'} of the table could not be read and ${refused === 1 ? 'was' : 'were'} left out.`,
      ]),
  ...(read === MOST_ROWS ? [`Only the first ${MOST_ROWS} rows were read.`] : []),
];
