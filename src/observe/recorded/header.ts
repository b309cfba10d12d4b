import { COLUMNS, type Column, NAME_COLUMN, UNKNOWN_COLUMN } from './columns.ts';
import { emptyRow, type Row } from './row.ts';

/** How to read the lines below one header row. */
export interface Header {
  /** A row, `null` for a line that cannot be one, or why the row is refused. */
  readonly read: (line: string) => Row | null | 'out-of-range';
}

interface Title {
  readonly name: string;
  readonly offset: number;
  readonly column: Column;
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

/** The reader for a header row, or null when the line is none. */
export const readHeader = (line: string): Header | null => {
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

  const put = (row: Row, title: Title, cell: string): boolean => title.column.put(row, cell.trim()) === 'ok';

  return {
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
      return fine ? row : 'out-of-range';
    },
  };
};
