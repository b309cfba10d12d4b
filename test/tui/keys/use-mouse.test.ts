import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Finding } from '../../../src/model/finding.ts';
import { DOUBLE_MS } from '../../../src/tui/keys/reader.ts';
import { planOf } from '../../act/fake-system.ts';
import { id } from '../../judge/plan/machine.ts';
import { type Hand, handOn } from '../hand.ts';

/** 100×30: two rows of header, the edge and the columns, 16 of the tree, its other edge, the tabs, five of the panel. */
const TREE = 4;
const TABS = 22;
const PANEL = 23;
const FOOTER = 29;
const BODY = 2;

let now: number;
beforeEach(() => {
  now = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** A click long after the one before. */
const click = (hand: Hand, column: number, row: number): void => {
  now += DOUBLE_MS;
  hand.mouse('press', column, row);
};
const doubleClick = (hand: Hand, column: number, row: number): void => {
  click(hand, column, row);
  hand.mouse('press', column, row);
};
/** The cell of a word on the screen; of the footer's words, on its row. */
const cellOf = (hand: Hand, word: string, from = 0): [column: number, row: number] => {
  const row = hand.lines().findIndex((line, at) => at >= from && line.includes(word));
  expect(row, `${word} in\n${hand.lines().join('\n')}`).toBeGreaterThanOrEqual(0);
  return [hand.lines()[row]!.indexOf(word), row];
};
const finding = (title: string, pid: number): Finding =>
  ({ id: 'leak', severity: 'warn', title, why: '', processes: [id(pid)], files: [], remedy: '' }) as never;
const FINDINGS = Array.from({ length: 9 }, (_, n) => finding(`f${n}`, [20, 21, 22][n % 3]!));

describe('a click in the tree', () => {
  test('selects the row; a second one on the same cell opens its detail', () => {
    const hand = handOn();
    click(hand, 5, TREE + 2);
    click(hand, 5, TREE + 1);
    expect([hand.selected(), hand.store.view.detail]).toEqual([20, false]);
    doubleClick(hand, 5, TREE + 6);
    expect([hand.selected(), hand.store.view.detail]).toEqual([30, true]);
  });

  test('folds and unfolds a heading, and never opens a detail of it', () => {
    const hand = handOn();
    click(hand, 5, TREE);
    expect([hand.selected(), hand.shown()[1]]).toEqual(['session ended', 'tmux main']);
    doubleClick(hand, 5, TREE);
    expect([hand.shown()[1], hand.store.view.detail]).toEqual(['tmux main', false]);
  });

  test('counts from the first row in view, takes the keys back, and does nothing below the last', () => {
    const hand = handOn({ columns: 80, rows: 12 });
    hand.press('G');
    // No frame: it begins a row higher.
    click(hand, 5, TREE - 1);
    expect(hand.selected()).toBe(21);
    const wide = handOn();
    wide.press('tab');
    click(wide, 5, TREE + 12);
    expect([wide.selected(), wide.store.view.focus]).toEqual(['session ended', 'findings']);
    click(wide, 5, TREE + 3);
    expect([wide.selected(), wide.store.view.focus]).toEqual([22, 'tree']);
    click(wide, 100, TREE + 4);
    expect(wide.selected()).toBe(22);
  });
});

describe('a click elsewhere', () => {
  test('on a tab gives it the keys, and takes them away again', () => {
    const hand = handOn();
    click(hand, ...cellOf(hand, 'Heartbeats'));
    expect(hand.store.view.focus).toBe('heartbeats');
    click(hand, ...cellOf(hand, 'Heartbeats'));
    expect(hand.store.view.focus).toBe('tree');
  });

  test('on an entry puts the cursor there; a double one is enter', () => {
    const hand = handOn({ snapshot: { findings: FINDINGS } });
    click(hand, 5, PANEL + 2);
    expect([hand.store.view.focus, hand.store.view.panelCursor]).toEqual(['findings', 2]);
    hand.press('escape');
    doubleClick(hand, 5, PANEL + 1);
    expect([hand.store.view.focus, hand.selected()]).toEqual(['tree', 21]);
    hand.press('g');
    click(hand, 5, PANEL - 2);
    expect([hand.selected(), hand.store.view.focus]).toEqual(['session ended', 'tree']);
  });

  test('on a word of the footer types its key, but for the first one on something that was said', () => {
    const hand = handOn();
    const [column] = cellOf(hand, 'q quit', FOOTER);
    hand.press('n');
    expect(hand.said()).toBe('No findings, and no session waits for you.');
    click(hand, column, FOOTER);
    expect([hand.said(), hand.asked]).toEqual([null, []]);
    click(hand, column, FOOTER);
    expect(hand.asked).toEqual(['quit 0']);
    hand.press('n');
    click(hand, 5, TREE + 1);
    expect([hand.said(), hand.selected()]).toEqual([null, 20]);
  });

  test('on a signal chooses it, a double one asks for its plan', () => {
    const hand = handOn();
    hand.press('j', 'S');
    click(hand, ...cellOf(hand, 'SIGHUP'));
    expect(hand.store.view.overlay).toEqual({ kind: 'signals', cursor: 2 });
    doubleClick(hand, ...cellOf(hand, 'SIGUSR1'));
    expect(hand.asked).toEqual([
      `plan ${JSON.stringify({ act: 'signal', targets: [id(20)], signal: 'SIGUSR1' })}`,
    ]);
  });

  test('on a setting moves to it, a double one switches it', () => {
    const hand = handOn();
    hand.press(',');
    click(hand, ...cellOf(hand, 'mouse'));
    expect(hand.store.view.overlay).toMatchObject({ cursor: 2 });
    now += DOUBLE_MS;
    expect(hand.store.view.look.mouse).toBe(true);
    doubleClick(hand, ...cellOf(hand, 'mouse'));
    expect(hand.store.view.look.mouse).toBe(false);
  });
});

describe('a click on the word that runs a plan', () => {
  const opened = (): Hand => {
    const hand = handOn();
    const plan = planOf([{ pid: 20, start: 's20' }]);
    hand.dispatch({
      type: 'overlay',
      overlay: { kind: 'plan', request: { act: 'clean' }, plan, openedIn: 0, typed: '', confirmed: [] },
    });
    return hand;
  };
  const word = (hand: Hand) => {
    const [column, row] = cellOf(hand, 'Press y to run');
    return [column + 'Press y to '.length, row] as const;
  };

  test('runs it', () => {
    const hand = opened();
    click(hand, ...word(hand));
    expect(hand.asked.map(line => line.split(' ')[0])).toEqual(['run']);
  });

  test('does not when it comes soon after another', () => {
    const hand = opened();
    const [column, row] = word(hand);
    click(hand, 0, BODY + 20);
    hand.mouse('press', column, row);
    expect([hand.asked, hand.said()]).toEqual([[], 'Too early: read the plan, then click once.']);
    expect(hand.store.view.overlay?.kind).toBe('plan');
  });

  test('is the only one that can come too soon', () => {
    const leaving = opened();
    click(leaving, 0, BODY + 20);
    leaving.mouse('press', ...cellOf(leaving, 'any other key cancels', FOOTER));
    expect([leaving.store.view.overlay, leaving.said(), leaving.asked]).toEqual([null, null, []]);
    const main = handOn();
    click(main, 5, TREE + 1);
    main.mouse('press', ...cellOf(main, 'q quit', FOOTER));
    expect(main.asked).toEqual(['quit 0']);
  });

  test('beside it does nothing', () => {
    const hand = opened();
    const [column, row] = word(hand);
    click(hand, column - 2, row);
    expect([hand.asked, hand.store.view.overlay?.kind]).toEqual([[], 'plan']);
  });
});

describe('the wheel', () => {
  test('moves the tree under the selection, which stays in view', () => {
    const hand = handOn({ columns: 80, rows: 12 });
    const place = (what: 'wheel-up' | 'wheel-down') => {
      hand.mouse(what, 5, TREE + 1);
      return [hand.store.view.top, hand.store.view.selectedIndex];
    };
    expect([place('wheel-down'), place('wheel-down'), place('wheel-up')]).toEqual([
      [2, 2],
      [2, 2],
      [0, 2],
    ]);
    hand.press('G');
    expect(place('wheel-up')).toEqual([0, 7]);
    const short = handOn();
    short.mouse('wheel-down', 5, TREE);
    expect([short.store.view.top, short.selected()]).toEqual([0, 'session ended']);
  });

  test('moves the cursor of the panel that has the keys, else what is seen of it', () => {
    const hand = handOn({ snapshot: { findings: FINDINGS } });
    const top = (what: 'wheel-up' | 'wheel-down') => {
      hand.mouse(what, 5, PANEL);
      return hand.store.view.panelTop;
    };
    expect([top('wheel-down'), top('wheel-down'), top('wheel-up'), top('wheel-up')]).toEqual([3, 4, 1, 0]);
    hand.press('tab');
    const cursor = (what: 'wheel-up' | 'wheel-down') => {
      hand.mouse(what, 5, TABS);
      return hand.store.view.panelCursor;
    };
    const all = ['wheel-down', 'wheel-down', 'wheel-down', 'wheel-up', 'wheel-up', 'wheel-up'] as const;
    expect(all.map(cursor)).toEqual([3, 6, 8, 5, 2, 0]);
    expect(hand.store.view.panelTop).toBe(0);
  });

  test('scrolls a sheet by three lines, a choice by one', () => {
    const hand = handOn();
    hand.press('?');
    hand.mouse('wheel-down', 5, BODY + 3);
    expect(hand.store.view.overlayScroll).toBe(3);
    hand.mouse('wheel-up', 5, BODY + 3);
    expect(hand.store.view.overlayScroll).toBe(0);
    hand.press('escape', 'j', 'S');
    hand.mouse('wheel-down', 5, BODY + 3);
    expect(hand.store.view.overlay).toMatchObject({ kind: 'signals', cursor: 1 });
    hand.press('escape', ',');
    hand.mouse('wheel-down', 5, BODY + 3);
    expect(hand.store.view.overlay).toMatchObject({ kind: 'setup', cursor: 1 });
  });

  test('scrolls the detail under it, and nothing over the header or the footer', () => {
    const hand = handOn({ columns: 80, rows: 8 });
    hand.press('j', 'enter');
    hand.mouse('wheel-down', 5, 3);
    expect(hand.store.view.detailScroll).toBe(3);
    const { view } = hand.store;
    hand.mouse('wheel-up', 5, 0);
    hand.mouse('wheel-up', 5, 7);
    hand.mouse('wheel-up', 80, 3);
    expect(hand.store.view).toBe(view);
  });
});
