import { describe, expect, test } from 'vitest';
import type { LiveState } from '../../../src/engine/live-state.ts';
import { noticeOf, noticeRows } from '../../../src/tui/footer.tsx';
import type { Screen } from '../../../src/tui/screen.ts';
import { INITIAL_VIEW, type Overlay, type ViewEvent, type ViewState } from '../../../src/tui/state.ts';
import { arrangementOf, bodyRows, type Layout, layoutFor } from '../../../src/tui/ui/layout.ts';
import { handOn } from '../hand.ts';
import { screenOf } from '../screen.ts';

const on = (columns: number, rows: number, view: Partial<ViewState> = {}): Screen => {
  const screen = screenOf({ view: { ...INITIAL_VIEW, ...view } }, columns, rows);
  return { ...screen, state: { ...screen.state, error: null } };
};

/** What a row of the screen begins; `columns` and `tabs` are one row, what follows them is another region. */
const BEGINS: readonly (readonly [RegExp, region: string, next: string])[] = [
  [/ NAME/, 'columns', 'tree'],
  [/^[╭─]─? Processes ─/, 'top', 'top'],
  [/^[╭─]─? ?Findings \d/, 'tabs', 'panel'],
  [/^─ Help ─/, 'overlay', 'overlay'],
  [/^[╭─]─? session ended ─/, 'detail', 'detail'],
  // On a screen of 7 rows the tree has no names of columns.
  [/^▌.*session ended/, 'tree', 'tree'],
  [/^╰/, 'bottom', 'bottom'],
];

/** The regions from the top as they are shown, with how many rows each has. */
const regions = (
  columns: number,
  rows: number,
  view: readonly ViewEvent[] = [],
  state: Partial<LiveState> = {},
): string => {
  const hand = handOn({ columns, rows, state });
  for (const event of view) hand.dispatch(event);
  const footer = Math.max(1, noticeRows(hand.store.screen).length);
  const lines = hand
    .lines()
    .concat(Array.from({ length: rows }, () => ''))
    .slice(0, rows);
  const counted = new Map<string, number>();
  let [region, next] = ['header', 'header'];
  for (const [row, line] of lines.entries()) {
    const begins = BEGINS.find(([begin]) => begin.test(line));
    [region, next] =
      row >= rows - footer ? ['footer', 'footer'] : begins ? [begins[1], begins[2]] : [next, next];
    counted.set(region, (counted.get(region) ?? 0) + 1);
  }
  return [...counted].map(([name, count]) => `${name} ${count}`).join(', ');
};

const DETAIL: ViewEvent = { type: 'detail', open: true };
const sheet = (overlay: Overlay): ViewEvent => ({ type: 'overlay', overlay });
const PAST = { moment: { at: 0, note: null, marks: [] } };

describe('what stands where', () => {
  test.each<[string, Parameters<typeof regions>, string]>([
    ['100×30', [100, 30], 'header 2, top 1, columns 1, tree 21, bottom 2, tabs 1, panel 1, footer 1'],
    ['120×40', [120, 40], 'header 2, top 1, columns 1, tree 31, bottom 2, tabs 1, panel 1, footer 1'],
    ['60×40', [60, 40], 'header 3, top 1, columns 1, tree 30, bottom 2, tabs 1, panel 1, footer 1'],
    ['40×10', [40, 10], 'header 1, columns 1, tree 7, footer 1'],
    ['40×7', [40, 7], 'header 1, tree 5, footer 1'],
    ['80×17', [80, 17], 'header 2, columns 1, tree 13, footer 1'],
    [
      'a panel with the keys on a low screen',
      [40, 10, [{ type: 'focus', focus: 'log' }]],
      'header 1, tabs 1, panel 7, footer 1',
    ],
    [
      'a detail below',
      [100, 30, [DETAIL]],
      'header 2, top 1, columns 1, tree 10, bottom 2, detail 13, footer 1',
    ],
    ['a detail instead', [80, 20, [DETAIL]], 'header 2, detail 16, bottom 1, footer 1'],
    [
      'a detail beside',
      [200, 50, [DETAIL]],
      'header 2, top 1, columns 1, tree 41, bottom 2, tabs 1, panel 1, footer 1',
    ],
    [
      'the past',
      [100, 30, [], PAST],
      'header 3, top 1, columns 1, tree 20, bottom 2, tabs 1, panel 1, footer 1',
    ],
    ['the past on a low screen', [40, 10, [], PAST], 'header 1, columns 1, tree 7, footer 1'],
    ['a sheet', [100, 30, [sheet({ kind: 'help' })]], 'header 2, overlay 27, footer 1'],
    [
      'a question of the footer',
      [100, 30, [sheet({ kind: 'export', frame: [] })]],
      'header 2, top 1, columns 1, tree 21, bottom 2, tabs 1, panel 1, footer 1',
    ],
    [
      'a plan that is made',
      [100, 30, [sheet({ kind: 'planning', request: { act: 'clean' } })]],
      'header 2, top 1, columns 1, tree 21, bottom 2, tabs 1, panel 1, footer 1',
    ],
    [
      'a notice in three rows',
      [30, 30, [{ type: 'notice', notice: { text: 'word '.repeat(40).trim(), tone: 'bad' } }]],
      'header 3, columns 1, tree 23, footer 3',
    ],
  ])('%s', (_, at, expected) => expect(regions(...at)).toBe(expected));

  test('beside the tree stands the detail, from its first column on and no further down', () => {
    const hand = handOn({ columns: 200, rows: 50 });
    hand.dispatch(DETAIL);
    const { treeColumns, detailColumns } = hand.store.screen.layout;
    expect([treeColumns, detailColumns]).toEqual([118, 80]);
    // The left side of its frame follows the right side of the tree's.
    const bars = hand.lines().map(line => line.slice(treeColumns + 1, treeColumns + 3) === '││');
    expect([bars.indexOf(true), bars.lastIndexOf(true)]).toEqual([3, 44]);
    hand.dispatch(sheet({ kind: 'help' }));
    expect(hand.lines().every(line => !line.includes('││'))).toBe(true);
    const screen = on(100, 30);
    expect(bodyRows(screen)).toBe(27);
    expect(arrangementOf(screen.layout, { detail: false, focus: 'log' })).toBe('tree');
  });
});

test.each<[string, number, number, boolean, Partial<Layout>]>([
  ['a row of columns from 8 rows on', 80, 7, false, { columnRow: false, headerRows: 1 }],
  ['a row of columns from 8 rows on', 80, 8, false, { columnRow: true, headerRows: 1 }],
  ['the time line from 12 rows on', 80, 11, true, { headerRows: 1, timeLine: false }],
  ['the time line from 12 rows on', 80, 12, true, { headerRows: 3, timeLine: true }],
  ['no time line unless the past is shown', 80, 12, false, { headerRows: 2, timeLine: false }],
  ['a header of two rows from 72 columns on', 71, 30, false, { headerRows: 3 }],
  ['a header of two rows from 72 columns on', 72, 30, false, { headerRows: 2 }],
  ['a panel from 18 rows on', 80, 17, false, { tabs: false, panelRows: 0 }],
  ['a panel from 18 rows on', 80, 18, false, { tabs: true, panelRows: 3 }],
  ['frames from 56 columns on', 55, 30, false, { framed: false, treeColumns: 55 }],
  ['frames from 56 columns on', 56, 30, false, { framed: true, treeColumns: 54 }],
  ['no frames where there is no panel', 80, 17, false, { framed: false }],
  ['the detail below from 30 rows on', 131, 29, false, { detail: 'instead' }],
  ['the detail beside from 132 columns on', 131, 30, false, { detail: 'below' }],
  ['the detail beside from 132 columns on', 132, 29, false, { detail: 'beside' }],
])('%s: %i×%i', (_, columns, rows, past, part) => {
  expect(layoutFor({ columns, rows }, false, past)).toMatchObject(part);
});

describe('what the footer tells', () => {
  test('a notice, else the error, else nothing', () => {
    const notice = { text: 'n', tone: 'warn' } as const;
    const failed = (view: Partial<ViewState>) => ({ ...on(100, 30, view), state: { error: 'e' } as never });
    expect(noticeOf(failed({ notice }))).toBe(notice);
    expect(noticeOf(failed({}))).toEqual({ text: 'e', tone: 'bad' });
    expect([noticeOf(on(100, 30)), noticeRows(on(100, 30))]).toEqual([null, []]);
  });

  test('is cut after three rows, sooner on a low screen, and with a mark', () => {
    const notice = { text: 'word '.repeat(40).trim(), tone: 'bad' } as const;
    const rows = noticeRows(on(30, 30, { notice }));
    expect(rows).toHaveLength(3);
    expect(rows[2]).toMatch(/…$/);
    expect(rows.every(row => row.length <= 28)).toBe(true);
    expect(noticeRows(on(30, 4, { notice }))).toHaveLength(1);
    const three = 'word '.repeat(15).trim();
    expect(noticeRows(on(30, 30, { notice: { text: three, tone: 'bad' } })).join(' ')).toBe(three);
    const numbered = Array.from({ length: 40 }, (_, n) => `w${n}`).join(' ');
    const cut = noticeRows(on(30, 30, { notice: { text: numbered, tone: 'bad' } })).join(' ');
    expect(numbered.startsWith(cut.slice(0, -1).trim())).toBe(true);
    expect(noticeRows(on(100, 30, { notice: { text: 'short', tone: 'bad' } }))).toEqual(['short']);
  });
});
