import { expect, test } from 'vitest';
import { COLUMN_IDS, type ColumnId } from '../../../src/model/ui-settings.ts';
import { columnsOn, setupItems } from '../../../src/tui/setup/setup-items.ts';
import { INITIAL_VIEW } from '../../../src/tui/state.ts';
import { layoutFor } from '../../../src/tui/ui/layout.ts';
import { themeNameOf } from '../../../src/tui/ui/theme.ts';

const screen = (width: number, columns: readonly ColumnId[] | null) => ({
  layout: layoutFor({ columns: width, rows: 30 }, false),
  view: { ...INITIAL_VIEW, level: 3 as const, look: { ...INITIAL_VIEW.look, columns } },
});

test('the columns that are on are those of the width, or those the user chose in their order', () => {
  expect(columnsOn(screen(100, null))).toEqual(['verdict', 'pid', 'mem', 'tree', 'cpu', 'age', 'state']);
  expect(columnsOn(screen(43, null))).toEqual(['verdict', 'mem', 'age']);
  const whole = { ...screen(100, null), view: { ...INITIAL_VIEW } };
  expect(columnsOn(whole)).toEqual(['verdict', 'pid', 'tree', 'cpu', 'age']);
  expect(columnsOn(screen(45, ['tty', 'pid']))).toEqual(['tty', 'pid']);
  expect(columnsOn(screen(100, []))).toEqual([]);
});

test('the setup lists every column once: those that are on first, the others in table order', () => {
  const items = setupItems(screen(100, ['tty', 'pid']));
  expect(items.slice(0, 4)).toEqual([
    { kind: 'theme' },
    { kind: 'interval' },
    { kind: 'mouse' },
    { kind: 'columns' },
  ]);
  const off = COLUMN_IDS.filter(id => id !== 'tty' && id !== 'pid');
  expect(items.slice(4)).toEqual([
    { kind: 'column', id: 'tty', on: true },
    { kind: 'column', id: 'pid', on: true },
    ...off.map(id => ({ kind: 'column', id, on: false })),
  ]);
});

test('the theme follows the background only where it is left to that', () => {
  const look = (theme: 'auto' | 'default' | 'high-contrast', background: 'light' | 'dark' | null) =>
    themeNameOf({ ...INITIAL_VIEW.look, theme, background });
  expect([look('auto', 'light'), look('auto', 'dark'), look('auto', null)]).toEqual([
    'light',
    'default',
    'default',
  ]);
  expect([look('default', 'light'), look('high-contrast', 'light')]).toEqual(['default', 'high-contrast']);
});
