import { describe, expect, test } from 'vitest';
import { keyOf } from '../../src/model/identity.ts';
import { INITIAL_VIEW } from '../../src/tui/state.ts';
import { withLivingMarks, withPlace } from '../../src/tui/store.ts';
import type { Row } from '../../src/tui/tree/row-order.ts';
import { withSelected } from '../../src/tui/tree/rows.ts';
import { invent, snapshotOf } from '../judge/plan/machine.ts';

const keyAt = (pid: number): string => keyOf({ pid, start: `s${pid}` });
const row = (pid: number): Row =>
  ({ key: keyAt(pid), process: invent(pid, 1), foldable: true, folded: true, trail: [] }) as unknown as Row;
const rows = (...pids: number[]): Row[] => pids.map(row);
const machine = (...pids: number[]) => snapshotOf(pids.map(pid => invent(pid, 1)));
const keys = (of: readonly Row[]): string[] => of.map(({ key }) => key);

describe('the selected row', () => {
  const before = rows(10, 11, 12, 13);

  test('stays in place as ended, so that a key does not act on its neighbour', () => {
    const kept = withSelected(keyAt(12), before, rows(10, 11, 13), machine(10, 11, 13));
    expect(keys(kept)).toEqual([10, 11, 12, 13].map(keyAt));
    expect(kept[2]).toMatchObject({ gone: true, foldable: false, folded: false });
    expect(kept[3]?.gone).toBeUndefined();
  });

  test('stays behind the nearest above it that is left, else at the top', () => {
    const behind = withSelected(keyAt(12), before, rows(9, 10, 13), machine(9, 10, 13));
    expect(keys(behind)).toEqual([9, 10, 12, 13].map(keyAt));
    expect(keys(withSelected(keyAt(12), before, rows(13), machine(13)))).toEqual([12, 13].map(keyAt));
  });

  test('stays, not as ended, when it runs but no longer matches the filter', () => {
    const now = invent(12, 1, { verdict: 'live' });
    const kept = withSelected(keyAt(12), before, rows(10), snapshotOf([now]));
    expect(kept[1]).toMatchObject({ process: now, context: true });
    expect(kept[1]?.gone).toBeUndefined();
  });

  test('is shown as ended when its pid was reused', () => {
    const kept = withSelected(
      keyAt(12),
      before,
      rows(10),
      snapshotOf([invent(12, 1, { facts: { start: 'x' } })]),
    );
    expect(kept[1]).toMatchObject({ gone: true });
  });

  test('changes nothing when it is present or never existed', () => {
    const now = rows(10, 12);
    expect(withSelected(keyAt(12), before, now, machine())).toBe(now);
    expect(withSelected(keyAt(99), before, now, machine())).toBe(now);
    expect(withSelected(null, before, now, machine())).toBe(now);
  });
});

test('who has ended is marked no more; the same view where nobody has', () => {
  const view = { ...INITIAL_VIEW, marked: new Set([keyAt(10), keyAt(11)]) };
  expect([...withLivingMarks(view, machine(11, 12)).marked]).toEqual([keyAt(11)]);
  expect(withLivingMarks(view, machine(10, 11))).toBe(view);
  expect(withLivingMarks(INITIAL_VIEW, machine())).toBe(INITIAL_VIEW);
});

test('the view is moved to the selected row, and is the same where it is there', () => {
  const view = { ...INITIAL_VIEW, selected: keyAt(12), selectedIndex: 0, top: 0 };
  const moved = withPlace(view, rows(10, 11, 12), 2);
  expect(moved).toMatchObject({ selected: keyAt(12), selectedIndex: 2, top: 1 });
  expect(withPlace(moved, rows(10, 11, 12), 2)).toBe(moved);
});
