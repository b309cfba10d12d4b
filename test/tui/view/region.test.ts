import { describe, expect, test } from 'vitest';
import { arrangementOf, bodyRows, layoutFor } from '../../../src/tui/view/layout.ts';
import { placeAt } from '../../../src/tui/view/region.ts';
import type { Screen } from '../../../src/tui/view/screen.ts';
import { INITIAL_VIEW, type ViewState } from '../../../src/tui/view/state.ts';
import { toldOf, toldRows } from '../../../src/tui/view/told.ts';
import { screenOf } from '../screen.ts';

const on = (columns: number, rows: number, view: Partial<ViewState> = {}, past = false): Screen => {
  const screen = screenOf({ view: { ...INITIAL_VIEW, ...view } }, columns, rows);
  const state = { ...screen.state, error: null };
  return { ...screen, state, layout: layoutFor({ columns, rows }, view.detail ?? false, past) };
};
/** The regions from the top, with how many rows each has. */
const regions = (screen: Screen, column = 0): string => {
  const all = Array.from(
    { length: screen.layout.rows },
    (_, row) => placeAt(screen, column, row)?.region ?? '-',
  );
  const counted = new Map<string, number>();
  for (const region of all) counted.set(region, (counted.get(region) ?? 0) + 1);
  return [...counted].map(([region, count]) => `${region} ${count}`).join(', ');
};

describe('what stands where', () => {
  test.each<[string, Screen, string]>([
    ['100×30', on(100, 30), 'header 2, columns 1, tree 18, caption 1, tabs 1, panel 6, footer 1'],
    ['120×40', on(120, 40), 'header 2, columns 1, tree 27, tabs 1, panel 8, footer 1'],
    ['60×40', on(60, 40), 'header 3, columns 1, tree 25, caption 1, tabs 1, panel 8, footer 1'],
    ['40×10', on(40, 10), 'header 1, columns 1, tree 7, footer 1'],
    ['40×7', on(40, 7), 'header 1, tree 5, footer 1'],
    ['80×17', on(80, 17), 'header 2, columns 1, tree 13, footer 1'],
    [
      'a panel with the keys on a low screen',
      on(40, 10, { focus: 'log' }),
      'header 1, tabs 1, panel 7, footer 1',
    ],
    ['a detail below', on(100, 30, { detail: true }), 'header 2, columns 1, tree 12, detail 14, footer 1'],
    ['a detail instead', on(80, 20, { detail: true }), 'header 2, detail 17, footer 1'],
    [
      'a detail beside',
      on(200, 50, { detail: true }),
      'header 2, columns 1, tree 35, tabs 1, panel 10, footer 1',
    ],
    ['the past', on(100, 30, {}, true), 'header 3, columns 1, tree 17, caption 1, tabs 1, panel 6, footer 1'],
    ['the past on a low screen', on(40, 10, {}, true), 'header 1, columns 1, tree 7, footer 1'],
    ['a sheet', on(100, 30, { overlay: { kind: 'help' } }), 'header 2, overlay 27, footer 1'],
    [
      'a plan that is made',
      on(100, 30, { overlay: { kind: 'planning', request: { act: 'clean' } } }),
      'header 2, columns 1, tree 18, caption 1, tabs 1, panel 6, footer 1',
    ],
    [
      'a notice in three rows',
      on(30, 30, { notice: { text: 'word '.repeat(40).trim(), tone: 'bad' } }),
      'header 3, columns 1, tree 17, caption 1, tabs 1, panel 4, footer 3',
    ],
  ])('%s', (_, screen, expected) => expect(regions(screen)).toBe(expected));

  test('beside the tree stands the detail, from its first column on and no further down', () => {
    const screen = on(200, 50, { detail: true });
    const { treeColumns } = screen.layout;
    expect([treeColumns, screen.layout.detailColumns]).toEqual([119, 80]);
    expect(regions(screen, treeColumns - 1)).not.toContain('detail');
    expect(regions(screen, treeColumns)).toBe('header 2, detail 36, tabs 1, panel 10, footer 1');
  });

  test('a line is counted from the first of its region; beyond the edges stands nothing', () => {
    const screen = on(100, 30);
    expect(placeAt(screen, 0, 5)).toEqual({ region: 'tree', line: 2, rows: 18 });
    expect(placeAt(screen, 99, 29)).toEqual({ region: 'footer', line: 0, rows: 1 });
    expect([placeAt(screen, 100, 5), placeAt(screen, -1, 5), placeAt(screen, 0, -1)]).toEqual([
      null,
      null,
      null,
    ]);
    expect(bodyRows(screen)).toBe(27);
    expect(arrangementOf(screen.layout, { detail: false, focus: 'log' })).toBe('tree');
  });
});

describe('what the footer tells', () => {
  test('a notice, else the error, else nothing', () => {
    const notice = { text: 'n', tone: 'warn' } as const;
    const failed = (view: Partial<ViewState>) => ({ ...on(100, 30, view), state: { error: 'e' } as never });
    expect(toldOf(failed({ notice }))).toBe(notice);
    expect(toldOf(failed({}))).toEqual({ text: 'e', tone: 'bad' });
    expect([toldOf(on(100, 30)), toldRows(on(100, 30))]).toEqual([null, []]);
  });

  test('is cut after three rows, sooner on a low screen, and with a mark', () => {
    const notice = { text: 'word '.repeat(40).trim(), tone: 'bad' } as const;
    const rows = toldRows(on(30, 30, { notice }));
    expect(rows).toHaveLength(3);
    expect(rows[2]).toMatch(/…$/);
    expect(rows.every(row => row.length <= 28)).toBe(true);
    expect(toldRows(on(30, 4, { notice }))).toHaveLength(1);
    expect(toldRows(on(100, 30, { notice: { text: 'short', tone: 'bad' } }))).toEqual(['short']);
  });
});
