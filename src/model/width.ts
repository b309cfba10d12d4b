import { eastAsianWidth } from 'get-east-asian-width';

/**
 * Anything but characters that are always one cell and one UTF-16 unit: ASCII, Latin, punctuation, arrows, boxes,
 * blocks, braille. Making a segmenter takes 11 ms, a tenth of `--once`, and every tree has a `└` in it.
 */
const NOT_PLAIN =
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
  if (!NOT_PLAIN.test(text)) return text.length;
  let total = 0;
  for (const { segment } of clusters(text)) total += clusterCells(segment);
  return total;
};

/** The text, or as much of it as fits in `width` cells with `mark` at the end. Never splits a character. */
export const cut = (text: string, width: number, mark = '…'): string => {
  // A cluster of n cells is at least one UTF-16 unit long and never wider than 2, so short texts always fit.
  if (text.length * 2 <= width) return text;
  if (!NOT_PLAIN.test(text.length > width ? text.slice(0, width + 1) : text)) {
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
