export { cells, cut } from './width.ts';

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
