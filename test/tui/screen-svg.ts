import type { Cell, HeadlessTerminal } from '../support/terminal.ts';

/** The 16 ANSI colours of a calm dark terminal. */
const PALETTE = [
  '#15181e',
  '#e06c75',
  '#98c379',
  '#e5c07b',
  '#61afef',
  '#c678dd',
  '#56b6c2',
  '#c8ccd4',
  '#5c6370',
  '#ff7b85',
  '#b5e08f',
  '#ffd68a',
  '#7fc4ff',
  '#de95f3',
  '#74d5e0',
  '#ffffff',
];
/** Colours 232 to 255 are greys: the ground of the selected row is one. */
const colourOf = (n: number | null): string | null => {
  if (n === null) return null;
  const grey = (8 + 10 * (n - 232)).toString(16).padStart(2, '0');
  return n >= 232 ? `#${grey}${grey}${grey}` : (PALETTE[n] ?? null);
};
const BACKGROUND = '#15181e';
const FOREGROUND = '#c8ccd4';
const WIDTH = 8.43;
const HEIGHT = 18;
const MARGIN = 12;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

interface Look {
  readonly fill: string;
  readonly back: string | null;
  readonly bold: boolean;
  readonly faint: boolean;
  readonly underline: boolean;
}

const lookOf = (cell: Cell): Look => {
  const fore = colourOf(cell.foreground) ?? FOREGROUND;
  const back = colourOf(cell.background);
  const { bold, faint, underline } = cell;
  if (cell.inverse) return { fill: back ?? BACKGROUND, back: fore, bold, faint: false, underline };
  return { fill: fore, back, bold, faint, underline };
};

const same = (a: Look, b: Look): boolean =>
  a.fill === b.fill &&
  a.back === b.back &&
  a.bold === b.bold &&
  a.faint === b.faint &&
  a.underline === b.underline;

/** The screen as a picture; the same screen gives the same text. */
export const screenSvg = (terminal: HeadlessTerminal, title: string): string => {
  const { cols, rows } = terminal.terminal;
  const x = (column: number): string => (MARGIN + column * WIDTH).toFixed(1);
  const parts: string[] = [];
  for (let row = 0; row < rows; row += 1) {
    const cells = terminal.cells(row);
    const top = MARGIN + row * HEIGHT;
    let column = 0;
    while (column < cols) {
      const look = lookOf(cells[column]!);
      let end = column;
      let text = '';
      while (end < cols && same(lookOf(cells[end]!), look)) {
        if (cells[end]!.width > 0) text += cells[end]!.text || ' ';
        end += 1;
      }
      const wide = ((end - column) * WIDTH).toFixed(1);
      if (look.back)
        parts.push(
          `<rect x="${x(column)}" y="${top}" width="${wide}" height="${HEIGHT}" fill="${look.back}"/>`,
        );
      if (look.underline)
        parts.push(
          `<rect x="${x(column)}" y="${top + HEIGHT - 2}" width="${wide}" height="1" fill="${look.fill}" opacity="0.5"/>`,
        );
      const trimmed = text.trimEnd();
      if (trimmed !== '') {
        const style = `${look.bold ? ' font-weight="bold"' : ''}${look.faint ? ' opacity="0.6"' : ''}`;
        const length = (trimmed.length * WIDTH).toFixed(1);
        parts.push(
          `<text x="${x(column)}" y="${top + 13.5}" fill="${look.fill}" textLength="${length}"${style}>${escaped(trimmed)}</text>`,
        );
      }
      column = end;
    }
  }
  const width = Math.ceil(cols * WIDTH + 2 * MARGIN);
  const height = rows * HEIGHT + 2 * MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="100%" height="100%" rx="6" fill="${BACKGROUND}"/>`,
    `<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">`,
    ...parts,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
};
