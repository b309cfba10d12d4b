import { expect, test } from 'vitest';
import { clickAt, clickable, entryOf } from '../../../src/tui/view/clickable.ts';
import { run } from '../../../src/tui/view/line.ts';

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
