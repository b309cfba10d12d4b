import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cells, cut, quoteArgs, showableJson, visible } from '../../src/model/text.ts';

const FORBIDDEN =
  /[\x00-\x1f\x7f-\x9f\u{61c}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{feff}\u{d800}-\u{dfff}]/u;
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map(units => String.fromCharCode(...units)),
  fc
    .array(
      fc.constantFrom('a', '\n', '\x1b[2J', '\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}', '\ud83d', '界'),
    )
    .map(parts => parts.join('')),
);

describe('JSON on a terminal', () => {
  test('keeps every value and shows none of what could move or reorder text', () => {
    const value = { a: 'x\u009b31m\u202ey\u{e0041}\ud800', 'k\u2066': ['é…', '\u001b[2J', 'a\nb'] };
    const text = showableJson(JSON.stringify(value, null, 2));
    expect(JSON.parse(text)).toEqual(value);
    expect(text).not.toMatch(/[\u007f-\u009f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}\u001b]/u);
    expect(text).toContain('é…');
    expect(text.split('\n')).toHaveLength(8);
  });
});

describe('visible', () => {
  test.each([
    ['a\nb\tc\r', 'a\\nb\\tc\\r'],
    ['\x1b[31mred', '\\x1b[31mred'],
    ['\x9b31m', '\\x9b31m'],
    ['evil\u{202e}txt.exe', 'evil\\u{202e}txt.exe'],
    ['a\u{2028}b\u{feff}', 'a\\u{2028}b\\u{feff}'],
    ['zero\u{200b}width', 'zero\\u{200b}width'],
    ['lone \ud83d half', 'lone \\u{d83d} half'],
    ['del\x7f nul\0', 'del\\x7f nul\\0'],
  ])('spells out %j', (text, shown) => expect(visible(text)).toBe(shown));

  test.each(['plain', '', 'naïve café', '日本語 😀', 'e\u{301}'])('returns %j as it is', text => {
    expect(visible(text)).toBe(text);
  });

  test('never lets through anything that could move a cursor, forge a row or reorder text', () => {
    fc.assert(fc.property(anyText, text => !FORBIDDEN.test(visible(text))));
  });

  test('does nothing more the second time', () => {
    fc.assert(fc.property(anyText, text => visible(visible(text)) === visible(text)));
  });
});

describe('cells and cut', () => {
  test.each([
    ['abc', 3],
    ['日本', 4],
    ['😀', 2],
    ['👍🏽', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['e\u{301}', 1],
    ['한국', 4],
    ['ﾊﾛｰ', 3],
    ['└─ x', 4],
    ['', 0],
  ])('%j takes %i cells', (text, width) => expect(cells(text)).toBe(width));

  test.each([
    ['abcdef', 4, 'abc…'],
    ['abc', 3, 'abc'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['日本', 4, '日本'],
    ['e\u{301}e\u{301}e\u{301}', 2, 'e\u{301}…'],
    ['abc', 1, '…'],
    ['日', 1, '…'],
    ['abc', 0, ''],
    ['日', 0, ''],
    ['abc', -3, ''],
  ])('cut(%j, %i)', (text, width, expected) => expect(cut(text, width)).toBe(expected));

  test('cuts with another mark where the locale has no ellipsis', () => {
    expect(cut('abcdef', 4, '~')).toBe('abc~');
    expect(cut('abcdef', 2, '...')).toBe('..');
  });

  test('a cut text always fits, and a text that fits is never cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 20 }), (text, width) => {
        const short = cut(text, width);
        expect(cells(short)).toBeLessThanOrEqual(width);
        if (cells(text) <= width) expect(short).toBe(text);
      }),
    );
  });
});

describe('quoteArgs', () => {
  test('shows where each argument begins and ends', () => {
    expect(quoteArgs(['sh', '-c', 'echo hi', '', "it's"])).toBe(String.raw`sh -c 'echo hi' '' 'it'\''s'`);
  });

  test('caps a monstrous command line without splitting a character', () => {
    const line = quoteArgs(['x', '😀'.repeat(10_000)], 100);
    expect(line.length).toBeLessThanOrEqual(100);
    expect(line.endsWith('…')).toBe(true);
    expect(visible(line)).toBe(line);
  });
});
