import { findNodeAtLocation, parseTree } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { insertLast, removeMember, styleOf } from '../../src/hooks/settings-edit.ts';

const nodeAt = (text: string, path: readonly (string | number)[]) => {
  const node = findNodeAtLocation(parseTree(text, [], { allowTrailingComma: true })!, [...path]);
  if (node === undefined) throw new Error(`there is no ${path.join('.')}`);
  return node;
};

describe('the style of a text', () => {
  test.each([
    ['{"a": 1}', '\n', '  '],
    ['', '\n', '  '],
    ['{\n    "a": 1\n}', '\n', '    '],
    ['{\n\t"a": 1\n}', '\n', '\t'],
    ['{\r\n "a": 1\r\n}', '\r\n', ' '],
  ])('of %j', (text, eol, indent) => expect(styleOf(text)).toEqual({ eol, indent }));
});

describe('a new member', () => {
  test.each<[string, string, (string | number)[], string | null, unknown, string]>([
    ['of nothing', '{}', [], 'k', 1, '{\n  "k": 1\n}'],
    ['of nothing on two lines', '{\n}', [], 'k', 1, '{\n  "k": 1\n}'],
    ['of nothing with blanks', '{ \t\n}', [], 'k', 1, '{\n  "k": 1 \t\n}'],
    ['of nothing with CRLF', '{\r\n}', [], 'k', 1, '{\r\n  "k": 1\r\n}'],
    ['of nothing but a comment', '{ // c\n}', [], 'k', 1, '{\n  "k": 1\n // c\n}'],
    ['deeper', '{\n    "a": {}\n}', ['a'], 'k', 1, '{\n    "a": {\n        "k": 1\n    }\n}'],
    ['behind another on its line', '{"a": 1}', [], 'k', [1], '{"a": 1, "k": [1]}'],
    ['behind one on a later line', '{\n"x": { "a": 1 }\n}', ['x'], 'k', 1, '{\n"x": { "a": 1, "k": 1 }\n}'],
    ['behind one that begins a line', '{\n\t"a": 1\n}', [], 'k', 1, '{\n\t"a": 1,\n\t"k": 1\n}'],
    [
      'behind one with lines of its own',
      '[\n    {\n        "a": 1\n    }\n]',
      [],
      null,
      [2],
      '[\n    {\n        "a": 1\n    },\n    [\n        2\n    ]\n]',
    ],
    ['behind one that ends on another line', '[{\n  "x": 1\n}]', [], null, 1, '[{\n  "x": 1\n}, 1]'],
    [
      'behind one like it, deeper',
      '{\n"x": [{\n"y": 1\n}]\n}',
      ['x'],
      null,
      1,
      '{\n"x": [{\n"y": 1\n}, 1]\n}',
    ],
    ['before a trailing comma', '{\n  "a": 1,\n}', [], 'k', 1, '{\n  "a": 1,\n  "k": 1,\n}'],
    ['with a quote in its name', '{"a": 1}', [], 'a"b', null, '{"a": 1, "a\\"b": null}'],
  ])('%s', (_, text, path, key, value, after) =>
    expect(insertLast(text, nodeAt(text, path), key, value, styleOf(text))).toBe(after),
  );
});

describe('a member that goes', () => {
  test.each<[string, number, string]>([
    ['[1, 2, 3]', 2, '[1, 2]'],
    ['[1, 2, 3]', 1, '[1, 3]'],
    ['[1, 2, 3]', 0, '[2, 3]'],
    ['[1, 2,]', 1, '[1,]'],
    ['[ 1 ]', 0, '[]'],
    ['[ 1, ]', 0, '[]'],
    ['[1, /* a */ 2]', 1, '[1 /* a */ ]'],
    ['[1 /* , */, 2]', 1, '[1 /* , */ ]'],
    ['[1 /* , */, 2]', 0, '[ /* , */ 2]'],
    ['[1, // a\n2]', 0, '[ // a\n2]'],
    ['[/* a */ 1]', 0, '[/* a */ ]'],
    ['[1 /* a */]', 0, '[ /* a */]'],
    ['[1, /* a */]', 0, '[ /* a */]'],
    ['[1 /* a */, ]', 0, '[ /* a */ ]'],
    ['[/* a */ 1, ]', 0, '[/* a */  ]'],
    ['[1, 2]', 2, '[1, 2]'],
    ['1', 0, '1'],
  ])('%j without number %i', (text, index, after) =>
    expect(removeMember(text, nodeAt(text, []), index)).toBe(after),
  );
});
