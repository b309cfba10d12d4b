/** Every non-ASCII character on the screen, with what replaces it where the locale is not UTF-8. */
export interface Glyphs {
  readonly open: string;
  readonly closed: string;
  readonly through: string;
  readonly branch: string;
  readonly lastBranch: string;
  readonly gap: string;
  readonly rule: string;
  readonly upperCorners: readonly [string, string];
  readonly lowerCorners: readonly [string, string];
  /** Parts of the memory bar: agents, leaked, other, free. */
  readonly shades: readonly [string, string, string, string];
  readonly bar: string;
  readonly cursor: string;
  readonly marked: string;
  readonly dot: string;
  readonly ellipsis: string;
  readonly arrow: string;
  readonly times: string;
  readonly caret: string;
  readonly bullet: string;
  readonly left: string;
  readonly right: string;
  readonly up: string;
  readonly down: string;
  readonly dash: string;
  /** Levels of a sparkline, lowest first. */
  readonly levels: readonly string[];
  /** Eighths of a cell of the memory plot, empty first. */
  readonly eighths: readonly string[];
}

const UNICODE: Glyphs = {
  open: '▾',
  closed: '▸',
  through: '│ ',
  branch: '├ ',
  lastBranch: '└ ',
  gap: '  ',
  rule: '─',
  upperCorners: ['╭', '╮'],
  lowerCorners: ['╰', '╯'],
  shades: ['█', '▓', '▒', '░'],
  bar: '│',
  cursor: '▌',
  marked: '●',
  dot: '·',
  ellipsis: '…',
  arrow: '→',
  times: '×',
  caret: '▏',
  bullet: '•',
  left: '◂',
  right: '▸',
  up: '▲',
  down: '▼',
  dash: '–',
  levels: ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
  eighths: [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
};

const ASCII: Glyphs = {
  open: '-',
  closed: '+',
  through: '| ',
  branch: '|-',
  lastBranch: '`-',
  gap: '  ',
  rule: '-',
  upperCorners: ['+', '+'],
  lowerCorners: ['+', '+'],
  shades: ['#', '!', '=', '.'],
  bar: '|',
  cursor: '>',
  marked: '*',
  dot: '.',
  ellipsis: '~',
  arrow: '->',
  times: 'x',
  caret: '_',
  bullet: '*',
  left: '<',
  right: '>',
  up: '^',
  down: 'v',
  dash: '-',
  levels: ['_', '.', ':', '-', '=', '+', '*', '#'],
  eighths: [' ', '.', '.', ':', ':', '+', '+', '#', '#'],
};

/** The locale the C library would choose: LC_ALL, else LC_CTYPE, else LANG. macOS terminals set only LC_CTYPE=UTF-8. */
export const speaksUtf8 = (env: NodeJS.ProcessEnv): boolean =>
  /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');

export const glyphsFor = (env: NodeJS.ProcessEnv): Glyphs => (speaksUtf8(env) ? UNICODE : ASCII);
