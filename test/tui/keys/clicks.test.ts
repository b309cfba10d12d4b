import { beforeEach, describe, expect, test } from 'vitest';
import { Clicks, DOUBLE_MS } from '../../../src/tui/keys/clicks.ts';

let now: number;
let clicks: Clicks;
beforeEach(() => {
  now = 10_000;
  clicks = new Clicks(() => now);
});
const click = (column = 3, row = 4) => clicks.note({ what: 'press', column, row });

describe('a click', () => {
  test('is neither double nor hurried when nothing came before it', () =>
    expect(click()).toEqual({ double: false, hurried: false }));

  test('sooner after what it answers than anybody reads is hurried, however that came up', () => {
    clicks.shown();
    now += DOUBLE_MS - 1;
    expect(click()).toEqual({ double: false, hurried: true });
    clicks = new Clicks(() => now);
    clicks.shown();
    now += DOUBLE_MS;
    expect(click()).toEqual({ double: false, hurried: false });
  });

  test('soon after another is the second of a double click only on its cell', () => {
    click();
    now += DOUBLE_MS - 1;
    expect(click()).toEqual({ double: true, hurried: true });
    expect(click(4, 4)).toEqual({ double: false, hurried: true });
    expect(click(4, 5)).toEqual({ double: false, hurried: true });
    now += DOUBLE_MS;
    expect(click(4, 5)).toEqual({ double: false, hurried: false });
  });
});
