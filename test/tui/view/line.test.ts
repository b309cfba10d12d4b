import { describe, expect, test } from 'vitest';
import {
  inTone,
  keepSame,
  type Line,
  lineToWidth,
  lineWidth,
  paint,
  run,
  spread,
  toWidth,
} from '../../../src/tui/view/line.ts';

const text = (line: Line): string => line.map(one => one.text).join('');

test.each([
  ['abc', 5, 'left', 'abc  '],
  ['abc', 5, 'right', '  abc'],
  ['abc', 3, 'left', 'abc'],
  ['abcd', 3, 'left', 'ab…'],
  ['界界', 3, 'left', '界…'],
  ['abc', 0, 'left', ''],
  ['abc', -1, 'left', ''],
] as const)('%s in %s cells, %s', (given, width, align, shown) => {
  expect(toWidth(given, width, align)).toBe(shown);
});

describe('a line in so many cells', () => {
  const line = [run('ab', 'bad'), run('', 'good'), run('cd', 'warn')];
  test.each([
    [6, 'abcd  '],
    [4, 'abcd'],
    [3, 'ab…'],
    [2, 'ab'],
    [1, '…'],
  ])('%s', (width, shown) => expect(text(lineToWidth(line, width))).toBe(shown));

  test('has no empty piece, keeps its tones, and is filled in plain', () => {
    expect(lineToWidth(line, 5)).toEqual([run('ab', 'bad'), run('cd', 'warn'), run(' ')]);
    expect(lineToWidth(line, 3)).toEqual([run('ab', 'bad'), run('…', 'warn')]);
    expect(lineToWidth(line, 3, '~')[1]).toEqual(run('~', 'warn'));
  });
});

test('both ends are shown with a blank between, else the left one alone', () => {
  const [left, right] = [[run('ab')], [run('cd')]];
  expect(text(spread(left, right, 6))).toBe('ab  cd');
  expect(text(spread(left, right, 5))).toBe('ab cd');
  expect(text(spread(left, right, 4))).toBe('ab  ');
  expect(lineWidth([run('a界'), run('b')])).toBe(4);
});

test('a line in one tone is one piece', () => {
  expect(inTone([run('a', 'bad'), run('b', 'good')], 'selected')).toEqual([run('ab', 'selected')]);
});

test('what has the same style is painted together, and plain blanks at the end are not', () => {
  const theme = { plain: '', bad: '31', warn: '31', good: '32' } as never;
  const painted = paint(
    [run('a', 'bad'), run('b', 'warn'), run('', 'good'), run('c', 'good'), run('d  ')],
    theme,
  );
  expect(painted.split('\u001b').filter(part => /\[3[12]m/.test(part))).toHaveLength(2);
  expect(painted).toMatch(/ab.*c.*d$/);
  expect(paint([run('a '), run('x  ', 'bad')], theme)).toContain('x  ');
});

test('lines that are what they were are the same objects, and so is the list when all are', () => {
  const old = [[run('a')], [run('b', 'bad')]];
  expect(keepSame(old, [[run('a')], [run('b', 'bad')]])).toBe(old);
  const changed = keepSame(old, [[run('a')], [run('b', 'good')]]);
  expect([changed === old, changed[0] === old[0], changed[1] === old[1]]).toEqual([false, true, false]);
  expect(keepSame(old, [[run('a')], [run('c', 'bad')]])[1]).not.toBe(old[1]);
  expect(keepSame(old, [[run('a')], [run('b', 'bad'), run('c')]])[1]).toHaveLength(2);
  expect(keepSame(old, [[run('a')]])).toHaveLength(1);
  expect(keepSame(old, [...old, [run('c')]])).toHaveLength(3);
});
