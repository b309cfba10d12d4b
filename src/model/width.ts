/**
 * Anything but characters that are always one cell and one UTF-16 unit: ASCII, Latin, punctuation, arrows, boxes,
 * blocks, braille. Making a segmenter takes 11 ms, a tenth of `--once`, and every tree has a `└` in it.
 */
const NOT_PLAIN =
  /[^\x20-\x7e\xa1-\xac\xae-\u02ff\u2010-\u2027\u2030-\u205e\u2190-\u2319\u2500-\u25fc\u2800-\u28ff]/;

/** Code points that take no cell of their own: marks, joiners, variation selectors, Hangul vowels and finals. */
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}\u{1160}-\u{11ff}\u{d7b0}-\u{d7ff}]$/u;

/** East Asian wide and emoji blocks, as [first, last]; coarse on purpose: unassigned gaps inside a block count as wide. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x231a, 0x231b],
  [0x2329, 0x232a],
  [0x23e9, 0x23ec],
  [0x23f0, 0x23f0],
  [0x23f3, 0x23f3],
  [0x25fd, 0x25fe],
  [0x2614, 0x2615],
  [0x2648, 0x2653],
  [0x267f, 0x267f],
  [0x2693, 0x2693],
  [0x26a1, 0x26a1],
  [0x26aa, 0x26ab],
  [0x26bd, 0x26be],
  [0x26c4, 0x26c5],
  [0x26ce, 0x26ce],
  [0x26d4, 0x26d4],
  [0x26ea, 0x26ea],
  [0x26f2, 0x26f3],
  [0x26f5, 0x26f5],
  [0x26fa, 0x26fa],
  [0x26fd, 0x26fd],
  [0x2705, 0x2705],
  [0x270a, 0x270b],
  [0x2728, 0x2728],
  [0x274c, 0x274c],
  [0x274e, 0x274e],
  [0x2753, 0x2755],
  [0x2757, 0x2757],
  [0x2795, 0x2797],
  [0x27b0, 0x27b0],
  [0x27bf, 0x27bf],
  [0x2b1b, 0x2b1c],
  [0x2b50, 0x2b50],
  [0x2b55, 0x2b55],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2ff],
  [0x1f004, 0x1f004],
  [0x1f0cf, 0x1f0cf],
  [0x1f18e, 0x1f18e],
  [0x1f191, 0x1f19a],
  [0x1f1e6, 0x1f320],
  [0x1f32d, 0x1f335],
  [0x1f337, 0x1f37c],
  [0x1f37e, 0x1f393],
  [0x1f3a0, 0x1f3ca],
  [0x1f3cf, 0x1f3d3],
  [0x1f3e0, 0x1f3f0],
  [0x1f3f4, 0x1f3f4],
  [0x1f3f8, 0x1f43e],
  [0x1f440, 0x1f440],
  [0x1f442, 0x1f4fc],
  [0x1f4ff, 0x1f53d],
  [0x1f54b, 0x1f567],
  [0x1f57a, 0x1f57a],
  [0x1f595, 0x1f596],
  [0x1f5a4, 0x1f5a4],
  [0x1f5fb, 0x1f64f],
  [0x1f680, 0x1f6c5],
  [0x1f6cc, 0x1f6fc],
  [0x1f7e0, 0x1f7f0],
  [0x1f90c, 0x1f9ff],
  [0x1fa70, 0x1faff],
  [0x20000, 0x3fffd],
];

const isWide = (code: number): boolean => {
  if (code < 0x1100) return false;
  let low = 0;
  let high = WIDE.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first, last] = WIDE[middle]!;
    if (code < first) high = middle - 1;
    else if (code > last) low = middle + 1;
    else return true;
  }
  return false;
};

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
