import { describe, expect, test } from 'vitest';
import { place } from '../../../src/tui/view/placement.ts';
import { reduce, type ViewEvent } from '../../../src/tui/view/reducer.ts';
import type { Row } from '../../../src/tui/view/row.ts';
import { SORTS } from '../../../src/tui/view/row-sort.ts';
import { INITIAL_VIEW, type ViewState } from '../../../src/tui/view/state.ts';

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
