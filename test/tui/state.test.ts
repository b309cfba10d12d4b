import { describe, expect, test } from 'vitest';
import { INITIAL_VIEW, reduce, type ViewEvent, type ViewState } from '../../src/tui/state.ts';
import { type Row, SORTS } from '../../src/tui/tree/row-order.ts';
import { place } from '../../src/tui/tree/rows.ts';

const viewAfter = (...events: ViewEvent[]): ViewState => events.reduce(reduce, INITIAL_VIEW);

describe('the reducer', () => {
  test('marking twice unmarks', () => {
    expect([...viewAfter({ type: 'mark', keys: ['1:a'] }).marked]).toEqual(['1:a']);
    expect(viewAfter({ type: 'mark', keys: ['1:a'] }, { type: 'mark', keys: ['1:a'] }).marked.size).toBe(0);
  });

  test('marking several of which some are marked marks all', () => {
    const view = viewAfter({ type: 'mark', keys: ['1:a'] }, { type: 'mark', keys: ['1:a', '2:b'] });
    expect([...view.marked]).toEqual(['1:a', '2:b']);
  });

  test('marks of processes that are gone are dropped', () => {
    const view = viewAfter(
      { type: 'mark', keys: ['1:a', '2:b'] },
      { type: 'keep-marks', living: new Set(['2:b']) },
    );
    expect([...view.marked]).toEqual(['2:b']);
  });

  test('leaving the filter without keeping it clears it', () => {
    expect(viewAfter({ type: 'filter', text: 'x' }, { type: 'filter-close', keep: false }).filter).toBe('');
    expect(viewAfter({ type: 'filter', text: 'x' }, { type: 'filter-close', keep: true }).filter).toBe('x');
  });

  test('the panel stays when the keys go back to the tree', () => {
    const view = viewAfter({ type: 'focus', focus: 'log' }, { type: 'focus', focus: 'tree' });
    expect([view.focus, view.panel]).toEqual(['tree', 'log']);
  });

  test('sorts go round', () => {
    const view = viewAfter(...Array.from({ length: SORTS.length }, (): ViewEvent => ({ type: 'next-sort' })));
    expect(view.sort).toBe('start');
  });

  test('another overlay starts at its top, the same one keeps its place', () => {
    const scrolled = viewAfter(
      { type: 'overlay', overlay: { kind: 'help' } },
      { type: 'overlay-scroll', to: 5 },
    );
    expect(scrolled.overlayScroll).toBe(5);
    expect(reduce(scrolled, { type: 'overlay', overlay: { kind: 'help' } }).overlayScroll).toBe(5);
    expect(reduce(scrolled, { type: 'overlay', overlay: { kind: 'running' } }).overlayScroll).toBe(0);
  });
});

describe('an event changes what it is about, and nothing else', () => {
  const finding = { id: 'leak' } as never;
  const snapshot = { takenAt: 1 } as never;
  const START: ViewState = {
    ...INITIAL_VIEW,
    folded: new Set(['a']),
    marked: new Set(['1:a']),
    filter: 'was',
    search: 'sought',
    detailScroll: 4,
    panelCursor: 2,
    panelLost: finding,
    panelTop: 3,
  };
  test.each<[ViewEvent, Partial<ViewState>]>([
    [
      { type: 'select', key: 'k', index: 3 },
      { selected: 'k', selectedIndex: 3, detailScroll: 0 },
    ],
    [
      { type: 'placed', selected: 'k', index: 3, top: 1 },
      { selected: 'k', selectedIndex: 3, top: 1 },
    ],
    [{ type: 'fold', keys: ['b', 'c'], folded: true }, { folded: new Set(['a', 'b', 'c']) }],
    [
      { type: 'fold', keys: ['a', 'b'], folded: false },
      { folded: new Set(), opened: new Set(['a', 'b']) },
    ],
    [{ type: 'level', level: 1 }, { level: 1 }],
    [{ type: 'unfold-own' }, { folded: new Set(), opened: new Set() }],
    [{ type: 'unmark-all' }, { marked: new Set() }],
    [{ type: 'filter-open' }, { filterOpen: true, focus: 'tree' }],
    [{ type: 'filter', text: 'x' }, { filter: 'x' }],
    [{ type: 'search-open' }, { searching: true, search: 'was', filter: '' }],
    [{ type: 'search-filter' }, { searching: false, search: '', filter: 'sought' }],
    [{ type: 'search', text: 'x' }, { search: 'x' }],
    [
      { type: 'filter-close', keep: true },
      { filterOpen: false, searching: false, search: '' },
    ],
    [{ type: 'next-sort' }, { sort: 'memory', reversed: false }],
    [
      { type: 'list', sort: 'cpu' },
      {
        focus: 'tree',
        grouping: 'flat',
        sort: 'cpu',
        reversed: false,
        listedFrom: { grouping: 'tmux', sort: 'start', reversed: false },
      },
    ],
    [
      { type: 'focus', focus: 'log' },
      { focus: 'log', panel: 'log', panelCursor: 0, panelLost: null, panelTop: 0 },
    ],
    [
      { type: 'panel-kept', panelCursor: 1, panelLost: null },
      { panelCursor: 1, panelLost: null },
    ],
    [{ type: 'panel-scroll', to: 7 }, { panelTop: 7 }],
    [{ type: 'panel-scroll', to: -1 }, { panelTop: 0 }],
    [
      { type: 'panel-cursor', cursor: 5 },
      { panelCursor: 5, panelLost: null },
    ],
    [{ type: 'stepped', to: finding }, { steppedTo: finding }],
    [
      { type: 'detail', open: true },
      { detail: true, detailScroll: 0 },
    ],
    [{ type: 'detail-scroll', to: 9 }, { detailScroll: 9 }],
    [{ type: 'detail-scroll', to: -9 }, { detailScroll: 0 }],
    [{ type: 'overlay-scroll', to: -2 }, { overlayScroll: 0 }],
    [{ type: 'freeze', snapshot }, { frozen: snapshot }],
    [{ type: 'all', all: true }, { all: true }],
    [{ type: 'look', look: { mouse: false } }, { look: { ...INITIAL_VIEW.look, mouse: false } }],
    [{ type: 'notice', notice: { text: 't', tone: 'bad' } }, { notice: { text: 't', tone: 'bad' } }],
  ])('%j', (event, change) => {
    expect(reduce(START, event)).toEqual({ ...START, ...change });
  });

  test('the key of a list turns it round; another key, or coming from a tree, does not', () => {
    const list: ViewEvent = { type: 'list', sort: 'cpu' };
    const reversed = (...events: ViewEvent[]) => viewAfter(...events).reversed;
    expect(reversed(list)).toBe(false);
    expect(reversed(list, list)).toBe(true);
    expect(reversed(list, list, list)).toBe(false);
    expect(reversed(list, { type: 'list', sort: 'memory' })).toBe(false);
    expect(reduce({ ...INITIAL_VIEW, sort: 'cpu' }, list).reversed).toBe(false);
    const before = viewAfter({ type: 'next-sort' });
    expect(reduce(reduce(reduce(before, list), list), { type: 'leave-list' })).toEqual({
      ...before,
      focus: 'tree',
    });
  });

  test('groupings go round', () => {
    const next: ViewEvent = { type: 'next-grouping' };
    expect([1, 2, 3].map(n => viewAfter(...Array.from({ length: n }, () => next)).grouping)).toEqual([
      'project',
      'flat',
      'tmux',
    ]);
  });
});

describe('placing the selection', () => {
  const rows = (...keys: string[]): Row[] => keys.map(key => ({ key }) as Row);
  const view = (selected: string | null, selectedIndex: number, top = 0) => ({
    selected,
    selectedIndex,
    top,
  });

  test('follows its row when others come before it', () => {
    expect(place(view('b', 1), rows('x', 'a', 'b'), 5)).toEqual({ selected: 'b', index: 2, top: 0 });
  });

  test('takes the row in its place when its own is gone', () => {
    expect(place(view('b', 1), rows('a', 'c'), 5)).toEqual({ selected: 'c', index: 1, top: 0 });
    expect(place(view('c', 2), rows('a'), 5)).toEqual({ selected: 'a', index: 0, top: 0 });
  });

  test('stays in view', () => {
    const many = rows(...'abcdefghij');
    expect(place(view('h', 7), many, 3).top).toBe(5);
    expect(place(view('b', 1, 6), many, 3).top).toBe(1);
    expect(place(view('j', 9, 9), many, 3).top).toBe(7);
  });

  test('an empty tree selects nothing new', () => {
    expect(place(view('a', 4, 2), [], 5)).toEqual({ selected: 'a', index: 0, top: 0 });
  });
});
