/** A painted screen as a picture: what `e` writes. */

/** The 16 colours of a calm terminal, dark and light. */
const PALETTE = [
  ['#15181e', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#c8ccd4'],
  ['#5c6370', '#ff7b85', '#b5e08f', '#ffd68a', '#7fc4ff', '#de95f3', '#74d5e0', '#ffffff'],
].flat();

const PAPER = {
  dark: { back: '#15181e', fore: '#c8ccd4' },
  light: { back: '#ffffff', fore: '#1b1f24' },
} as const;
export type Paper = keyof typeof PAPER;

const WIDTH = 8.43;
const HEIGHT = 18;
const MARGIN = 12;

interface Style {
  readonly bold: boolean;
  readonly faint: boolean;
  readonly underline: boolean;
  readonly inverse: boolean;
  readonly colour: string | null;
  /** Under the letters. */
  readonly ground: string | null;
}
const PLAIN: Style = {
  bold: false,
  faint: false,
  underline: false,
  inverse: false,
  colour: null,
  ground: null,
};

/** Colours 16 to 255: a cube of six levels, then greys. */
const cube = (n: number): string => {
  const level = (v: number): number => (v === 0 ? 0 : 55 + 40 * v);
  const grey = 8 + 10 * (n - 232);
  const parts =
    n >= 232
      ? [grey, grey, grey]
      : [level(Math.floor((n - 16) / 36)), level(Math.floor((n - 16) / 6) % 6), level((n - 16) % 6)];
  return `#${parts.map(part => part.toString(16).padStart(2, '0')).join('')}`;
};

const FLAGS: Readonly<Record<number, Partial<Style>>> = {
  0: PLAIN,
  1: { bold: true },
  2: { faint: true },
  4: { underline: true },
  7: { inverse: true },
  22: { bold: false, faint: false },
  24: { underline: false },
  27: { inverse: false },
  39: { colour: null },
  49: { ground: null },
};

const styled = (style: Style, parameters: string): Style => {
  const codes = parameters.split(';').map(Number);
  let now = style;
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i]!;
    if ((code === 38 || code === 48) && codes[i + 1] === 5) {
      const n = codes[i + 2] ?? 0;
      now = { ...now, [code === 38 ? 'colour' : 'ground']: n < 16 ? PALETTE[n]! : cube(n) };
      i += 2;
    } else if (code >= 30 && code <= 37) now = { ...now, colour: PALETTE[code - 30]! };
    else if (code >= 90 && code <= 97) now = { ...now, colour: PALETTE[code - 82]! };
    else now = { ...now, ...FLAGS[code] };
  }
  return now;
};

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

type Cells = (text: string) => number;

/** One run of a row: its ground, its line when it is underlined, its letters. */
const runSvg = (
  text: string,
  style: Style,
  left: number,
  row: number,
  cells: Cells,
  paper: Paper,
): string => {
  const { back, fore } = PAPER[paper];
  const colour = style.colour ?? fore;
  const fill = style.inverse ? back : colour;
  const x = (MARGIN + left * WIDTH).toFixed(1);
  const top = MARGIN + row * HEIGHT;
  const wide = (cells(text) * WIDTH).toFixed(1);
  const box = (y: number, height: number, paint = colour): string =>
    `<rect x="${x}" y="${y}" width="${wide}" height="${height}" fill="${paint}"/>`;
  const look = `${style.bold ? ' font-weight="bold"' : ''}${style.faint && !style.inverse ? ' opacity="0.6"' : ''}`;
  const letters = `<text x="${x}" y="${top + 13.5}" fill="${fill}" textLength="${wide}"${look}>${escaped(text)}</text>`;
  return [
    style.inverse ? box(top, HEIGHT) : style.ground === null ? '' : box(top, HEIGHT, style.ground),
    style.underline ? box(top + HEIGHT - 2, 1) : '',
    text.trim() === '' ? '' : letters,
  ].join('');
};

const rowSvg = (line: string, row: number, cells: Cells, paper: Paper): string => {
  let style = PLAIN;
  let left = 0;
  let out = '';
  for (const [i, part] of line.split(/\u001b\[([\d;]*)m/).entries()) {
    if (i % 2 === 1) style = styled(style, part);
    else if (part !== '') {
      out += runSvg(part, style, left, row, cells, paper);
      left += cells(part);
    }
  }
  return out;
};

/** `lines`: as they were painted, with their styles. */
export const svgOf = (lines: readonly string[], columns: number, cells: Cells, paper: Paper): string => {
  const width = Math.ceil(columns * WIDTH + 2 * MARGIN);
  const height = lines.length * HEIGHT + 2 * MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    '<title>reaptop</title>',
    `<rect width="100%" height="100%" rx="6" fill="${PAPER[paper].back}"/>`,
    '<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" xml:space="preserve">',
    ...lines.map((line, row) => rowSvg(line, row, cells, paper)).filter(Boolean),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
};
