import { describe, expect, test } from 'vitest';
import { cells, wrap } from '../../src/model/text.ts';

describe('wrapping', () => {
  test('keeps words and cuts what is longer than a line', () => {
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
    expect(wrap('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
    expect(wrap('', 4)).toEqual(['']);
    expect(wrap('abc', 0)).toEqual([]);
  });

  test('goes on behind an indent, and keeps the spaces it begins with', () => {
    expect(wrap('  → one two three', 9, '    ')).toEqual(['  → one', '    two', '    three']);
    expect(wrap('   12 31M  name: why it is so', 16, '      ')).toEqual([
      '   12 31M  name:',
      '      why it is',
      '      so',
    ]);
  });

  test('a long word starts on a line of its own, behind the indent', () => {
    expect(wrap('a bcdefghi', 6, '  ')).toEqual(['a', '  bcde', '  fghi']);
  });

  test('an indent wider than the line, and wide characters, end all the same', () => {
    expect(wrap('abc def', 2, '     ').join('')).toContain('def');
    for (const line of wrap('漢字漢字漢字', 5, '  ')) expect(cells(line)).toBeLessThanOrEqual(5);
    expect(wrap('漢', 1)).toEqual(['漢']);
  });
});
