import { cells } from '../../src/model/text.ts';
import { DOUBLE_MS } from '../../src/tui/keys/reader.ts';
import type { Driven } from './drive.ts';

export interface Cell {
  readonly column: number;
  readonly row: number;
}

/** What a terminal in mode 1006 sends; columns and rows count from 0 here, from 1 there. */
export const SGR = {
  press: ({ column, row }: Cell): string => `\u001b[<0;${column + 1};${row + 1}M`,
  release: ({ column, row }: Cell): string => `\u001b[<0;${column + 1};${row + 1}m`,
  click: (cell: Cell): string => SGR.press(cell) + SGR.release(cell),
  wheelUp: ({ column, row }: Cell): string => `\u001b[<64;${column + 1};${row + 1}M`,
  wheelDown: ({ column, row }: Cell): string => `\u001b[<65;${column + 1};${row + 1}M`,
} as const;

/** The cell where a text begins, on the first line that has it. */
export const cellOf = (lines: readonly string[], text: string | RegExp): Cell => {
  for (const [row, line] of lines.entries()) {
    const at = typeof text === 'string' ? line.indexOf(text) : line.search(text);
    if (at >= 0) return { column: cells(line.slice(0, at)), row };
  }
  throw new Error(`no line shows ${text}:\n${lines.join('\n')}`);
};

/** A condition that holds as soon as whoever sees the screen now can have read it: a click counts from then on. */
export const readBy = (): (() => boolean) => {
  const seen = performance.now();
  return () => performance.now() - seen > DOUBLE_MS;
};

/** A mouse at the terminal of a driven TUI. */
export const handOf = (driven: Driven) => {
  const find = (text: string | RegExp): Cell => cellOf(driven.terminal.lines(), text);
  return {
    find,
    click: (text: string | RegExp) => driven.type(SGR.click(find(text))),
    /** Two clicks, each in a read of its own, as fast as a hand can. */
    doubleClick: async (text: string | RegExp) => {
      const cell = find(text);
      driven.terminal.type(SGR.click(cell));
      await driven.type(SGR.click(cell));
    },
    wheel: (text: string | RegExp, notches: number) =>
      driven.type((notches < 0 ? SGR.wheelUp : SGR.wheelDown)(find(text)).repeat(Math.abs(notches))),
  };
};
