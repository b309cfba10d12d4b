import { type Header, readHeader } from './header.ts';
import type { Row } from './row.ts';

export interface Rows {
  readonly rows: readonly Row[];
  readonly warnings: readonly string[];
}

/** More rows than any machine has processes: somebody feeds us something else. */
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
export const readListing = (text: string): Rows | null => {
  const lines = (text.includes('\x1b') ? text.replace(COLOUR, '') : text).split(/\r\n|\n|\r/);
  // Pages of one listing repeat their header: read it once.
  const known = new Map<string, Header>();
  const widest = lines.reduce((most, line) => Math.max(most, line.length), 0);
  const rows: Row[] = [];
  let header: Header | null = null;
  let refused = 0;
  /** The row a continuation line would belong to. */
  let open: Row | null = null;
  let previousLength = 0;
  for (const line of lines) {
    if (rows.length === MOST_ROWS || refused === MOST_ROWS) break;
    const next = line.trim() === '' ? null : (known.get(line) ?? readHeader(line));
    if (next !== null) {
      known.set(line, next);
      header = next;
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
    } else if (open !== null && open.command !== null) {
      open.command = joinWrapped(open.command, line, previousLength, widest);
    } else refused += 1;
    previousLength = line.length;
  }
  if (header === null) return null;
  return { rows, warnings: refusals(refused, rows.length) };
};

const refusals = (refused: number, read: number): string[] => [
  ...(refused === 0
    ? []
    : [
        `${refused} line${refused === 1 ? '' : 's'} of the table could not be read and ${refused === 1 ? 'was' : 'were'} left out.`,
      ]),
  ...(read === MOST_ROWS ? [`Only the first ${MOST_ROWS} rows were read.`] : []),
];
