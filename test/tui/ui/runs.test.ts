import { describe, expect, test } from 'vitest';
import {
  clickAt,
  clickable,
  entryOf,
  paint,
  type Runs,
  run,
  runsToWidth,
  runsWidth,
  sameRuns,
  spread,
  toWidth,
} from '../../../src/tui/ui/runs.ts';

const text = (line: Runs): string => line.map(one => one.text).join('');

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
  ])('%s', (width, shown) => expect(text(runsToWidth(line, width))).toBe(shown));

  test('has no empty piece, keeps its tones, and is filled in plain', () => {
    expect(runsToWidth(line, 5)).toEqual([run('ab', 'bad'), run('cd', 'warn'), run(' ')]);
    expect(runsToWidth(line, 3)).toEqual([run('ab', 'bad'), run('…', 'warn')]);
    expect(runsToWidth(line, 3, '~')[1]).toEqual(run('~', 'warn'));
  });
});

test('both ends are shown with a blank between, else the left one alone', () => {
  const [left, right] = [[run('ab')], [run('cd')]];
  expect(text(spread(left, right, 6))).toBe('ab  cd');
  expect(text(spread(left, right, 5))).toBe('ab cd');
  expect(text(spread(left, right, 4))).toBe('ab  ');
  expect(runsWidth([run('a界'), run('b')])).toBe(4);
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

test('runs are the same when they look and click alike', () => {
  const old = [run('a'), run('b', 'bad')];
  expect(sameRuns(old, [run('a'), run('b', 'bad')])).toBe(true);
  expect(sameRuns(old, [run('a'), run('b', 'good')])).toBe(false);
  expect(sameRuns(old, [run('a'), run('c', 'bad')])).toBe(false);
  expect(sameRuns(old, [run('a')])).toBe(false);
  expect(sameRuns(old, [...old, run('c')])).toBe(false);
  const third = [clickable(run('a'), { entry: 3 })];
  expect(sameRuns(third, [clickable(run('a'), { entry: 3 })])).toBe(true);
  expect(sameRuns(third, [clickable(run('a'), { entry: 4 })])).toBe(false);
  expect(sameRuns(third, [run('a')])).toBe(false);
});

const LINE = [
  run('ab'),
  clickable(run('runs'), { key: 'y' }),
  run(' it'),
  clickable(run('界'), { entry: 3 }),
];

test.each([
  [-1, null],
  [0, null],
  [1, null],
  [2, { key: 'y' }],
  [5, { key: 'y' }],
  [6, null],
  [8, null],
  [9, { entry: 3 }],
  [10, { entry: 3 }],
  [11, null],
])('a click on column %s hits what stands there, and nothing beside it', (column, click) => {
  expect(clickAt(LINE, column)).toEqual(click);
});

test('a line belongs to its entry wherever it is clicked; one without belongs to none', () => {
  expect(entryOf(LINE)).toBe(3);
  expect(entryOf(LINE.slice(0, 3))).toBeNull();
});
