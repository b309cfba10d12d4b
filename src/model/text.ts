import { eastAsianWidth } from 'get-east-asian-width';

/**
 * Everything that could move the cursor, forge a row, hide or reorder text: C0, DEL, C1, soft hyphen,
 * bidi marks and overrides, zero-width characters, line and paragraph separators, invisible operators,
 * BOM, interlinear marks, tag characters, and lone surrogates (which the `u` flag matches only when alone).
 */
const UNSAFE =
  /[\u{0}-\u{1f}\u{7f}-\u{9f}\u{ad}\u{61c}\u{180e}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{feff}\u{fff9}-\u{fffb}\u{e0000}-\u{e007f}\u{d800}-\u{dfff}]/gu;

const NOT_PLAIN = /[^\x20-\x7e]/;

const NAMED: Readonly<Record<string, string>> = {
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\0': '\\0',
};

const spell = (char: string): string => {
  const code = char.codePointAt(0)!;
  return (
    NAMED[char] ?? (code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`)
  );
};

/** Untrusted text with every control, escape, bidi or invisible character spelled out. Clean text is returned as it is. */
export const visible = (text: string): string => (NOT_PLAIN.test(text) ? text.replace(UNSAFE, spell) : text);

/** JSON that a terminal may show: what JSON.stringify leaves raw (C1, bidi, invisible) is escaped, with no loss. */
export const showableJson = (json: string): string =>
  NOT_PLAIN.test(json) ? json.replace(UNSAFE_IN_JSON, escapeUnits) : json;

/** Line feeds are JSON's own. */
const UNSAFE_IN_JSON = new RegExp(UNSAFE.source.replace('\\u{0}-\\u{1f}', ''), 'gu');

const escapeUnits = (char: string): string =>
  [...Array(char.length).keys()]
    .map(at => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('');

const NEEDS_QUOTES = /[\s'"]/;

const quote = (word: string): string => {
  if (word === '') return "''";
  return NEEDS_QUOTES.test(word) ? `'${word.replaceAll("'", `'\\''`)}'` : word;
};

/** Longest command kept for display and JSON: the longest one seen alive was 2,447 characters. */
const COMMAND_LIMIT = 8192;

/** One line that shows where each argument begins and ends; `splitWords` reads it back. */
export const quoteArgs = (argv: readonly string[], limit = COMMAND_LIMIT): string => {
  let line = '';
  for (const [index, word] of argv.entries()) {
    line += index === 0 ? quote(word) : ` ${quote(word)}`;
    if (line.length > limit) return `${cutSurrogates(line, limit - 1)}…`;
  }
  return line;
};

/** A cut between the halves of a pair would leave a lone surrogate. */
const cutSurrogates = (text: string, length: number): string => {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
};

/**
 * Anything but characters that are always one cell and one UTF-16 unit: ASCII, Latin, punctuation, arrows, boxes,
 * blocks, braille. Making a segmenter takes 11 ms, a tenth of `--once`, and every tree has a `└` in it.
 */
const NOT_ONE_CELL_EACH =
  /[^\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2319\u2500-\u25fc\u2800-\u28ff]/;

/** Code points that take no cell of their own: marks, joiners, variation selectors, Hangul vowels and finals. */
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}\u{1160}-\u{11ff}\u{d7b0}-\u{d7ff}]$/u;

/** A flag is two of these, in one picture two cells wide; Unicode calls each of them neutral. */
const isRegional = (code: number): boolean => code >= 0x1f1e6 && code <= 0x1f1ff;

const isWide = (code: number): boolean => code >= 0x1100 && (eastAsianWidth(code) === 2 || isRegional(code));

/** Width of one user-perceived character: that of its first code point; U+FE0F asks for the emoji picture, two cells. */
const clusterCells = (cluster: string): number => {
  const code = cluster.codePointAt(0)!;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 0;
  const first = String.fromCodePoint(code);
  if (ZERO.test(first)) return 0;
  return isWide(code) || (cluster.length > first.length && cluster.includes('\u{fe0f}')) ? 2 : 1;
};

let segmenter: Intl.Segmenter | undefined; // made on first need: plain tables never pay for it
const clusters = (text: string): Iterable<{ segment: string }> => {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
};

/** How many terminal cells the text takes. */
export const cells = (text: string): number => {
  if (!NOT_ONE_CELL_EACH.test(text)) return text.length;
  let total = 0;
  for (const { segment } of clusters(text)) total += clusterCells(segment);
  return total;
};

/** The text, or as much of it as fits in `width` cells with `mark` at the end. Never splits a character. */
export const cut = (text: string, width: number, mark = '…'): string => {
  // A cluster of n cells is at least one UTF-16 unit long and never wider than 2, so short texts always fit.
  if (text.length * 2 <= width) return text;
  if (!NOT_ONE_CELL_EACH.test(text.length > width ? text.slice(0, width + 1) : text)) {
    if (text.length <= width) return text;
    return width < mark.length
      ? mark.slice(0, Math.max(0, width))
      : text.slice(0, width - mark.length) + mark;
  }
  const room = width - cells(mark);
  let used = 0;
  let kept = '';
  for (const { segment } of clusters(text)) {
    const wide = clusterCells(segment);
    if (used + wide > width) return room < 0 ? mark.slice(0, Math.max(0, width)) : kept + mark;
    used += wide;
    if (used <= room) kept += segment;
  }
  return text;
};

/** The text in a style: SGR parameters such as `1;31`, opened before it and closed after it. The only place that does so. */
export const inStyle = (text: string, parameters: string): string =>
  parameters === '' || text === '' ? text : `\u001b[${parameters}m${text}\u001b[0m`;

/**
 * Words in lines of at most `width` cells, the lines after the first behind `indent`. Spaces at the very start stay;
 * a word longer than a line is cut across lines.
 */
export const wrap = (text: string, width: number, indent = ''): readonly string[] => {
  if (width < 1) return [];
  const lines: string[] = [];
  const words = text.trimStart();
  let line = text.slice(0, text.length - words.length);
  let empty = true;
  const next = (): void => {
    lines.push(line.trimEnd());
    line = indent;
    empty = true;
  };
  for (const word of words.split(' ')) {
    if (!empty && cells(line) + 1 + cells(word) <= width) {
      line += ` ${word}`;
      continue;
    }
    if (!empty) next();
    let rest = word;
    while (cells(line) + cells(rest) > width) {
      const head = cut(rest, width - cells(line), '');
      if (head === '') break; // a wide character in a column of one
      line += head;
      rest = rest.slice(head.length);
      next();
    }
    line += rest;
    empty = rest === '';
  }
  if (!empty || lines.length === 0) lines.push(line.trimEnd());
  return lines;
};

/** Names shown of several; the rest is a number. */
const MOST_NAMED = 3;

/** `lean, lake serve, chrome and 4 more`. */
export const someOf = (names: readonly string[], named = MOST_NAMED): string => {
  const more = names.length - named;
  return `${names.slice(0, named).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
};

/** With `~` for the home directories in it. */
export const homely = (text: string): string =>
  text.replace(/(^|[\s=:'"])\/(?:(?:home|Users)\/[^/\s]+|root)(?=\/|$)/g, '$1~');

/** Letters to insert, leave out, replace or swap to get from one word to another. */
const distance = (from: string, to: string): number => {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const same = from[i - 1] === to[j - 1] ? 0 : 1;
      row[j] = Math.min(row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + same);
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    before = last;
    last = row;
  }
  return last[to.length]!;
};

const MOST_TYPOS = 2;
const LONGEST_TYPED = 40;

/** The word that was probably meant; null: none is near enough. */
export const nearest = (typed: string, words: readonly string[]): string | null => {
  if (typed === '' || typed.length > LONGEST_TYPED) return null;
  const started = words.find(word => typed.length > 1 && word.startsWith(typed));
  const [best] = words
    .map(word => ({ word, typos: distance(typed, word) }))
    .filter(({ word, typos }) => typos <= MOST_TYPOS && typos < word.length / 2)
    .sort((a, b) => a.typos - b.typos);
  return best?.word ?? started ?? null;
};
