import { describe, expect, test } from 'vitest';
import { growthOf } from '../../src/judge/growth.ts';
import { VERDICT_WORDS } from '../../src/model/snapshot.ts';
import { cells } from '../../src/model/text.ts';
import { COLUMNS, columnsFor } from '../../src/tui/tree/columns.ts';
import { treeRows } from '../../src/tui/tree/rows.ts';
import { glyphsFor, speaksUtf8 } from '../../src/tui/ui/glyphs.ts';
import { layoutFor } from '../../src/tui/ui/layout.ts';
import { memoryPlot, resample } from '../../src/tui/ui/plot.ts';
import { onSelected, paint, run, runsToWidth, runsWidth, toWidth } from '../../src/tui/ui/runs.ts';
import { svgOf } from '../../src/tui/ui/svg.ts';
import { THEMES, TONES, themeFor } from '../../src/tui/ui/theme.ts';
import { standingDemo } from './drive.ts';

const demo = await standingDemo({ all: true });
const unicode = glyphsFor({ LANG: 'C.UTF-8' });

describe('columns', () => {
  const rows = treeRows(demo.live.getState().snapshot, {
    folded: new Set(),
    filter: '',
    sort: 'start',
    all: true,
  });

  test.each(COLUMNS)('$id fits its width on every row', column => {
    for (const row of rows) expect(cells(column.text(row))).toBeLessThanOrEqual(column.width);
  });

  test('for whole trees keep the mark and tree memory longer than pid and age', () => {
    const whole = (width: number) => columnsFor(width, null, true).map(c => c.id);
    expect(whole(58)).toEqual(['verdict', 'tree', 'cpu']);
    expect(whole(78)).toEqual(['verdict', 'pid', 'tree', 'cpu', 'age']);
    expect(whole(38)).toEqual(['verdict', 'tree']);
  });

  test('drop as the screen gets narrower, verdict and memory last', () => {
    expect(columnsFor(200, null).map(c => c.id)).toEqual(COLUMNS.map(c => c.id));
    expect(columnsFor(60, null).map(c => c.id)).toEqual(['verdict', 'pid', 'mem', 'cpu', 'age', 'state']);
    expect(columnsFor(40, null).map(c => c.id)).toEqual(['verdict', 'mem', 'age']);
    expect(columnsFor(26, null).map(c => c.id)).toEqual(['verdict']);
  });

  test("are the user's, in the user's order, as far as they fit", () => {
    expect(columnsFor(60, ['age', 'mem']).map(c => c.id)).toEqual(['age', 'mem']);
  });

  test('a verdict is always a word', () => {
    for (const word of Object.values(VERDICT_WORDS)) expect(word).toMatch(/\S/);
    expect(new Set(Object.values(VERDICT_WORDS)).size).toBe(5);
  });
});

describe('layout', () => {
  test.each([
    [40, 10],
    [60, 40],
    [80, 24],
    [120, 40],
    [200, 50],
    [20, 5],
  ])('%i×%i uses every row, with and without detail', (columns, rows) => {
    for (const open of [false, true]) {
      const l = layoutFor({ columns, rows }, open);
      const edges = l.framed ? 2 : 0;
      const tree = l.treeRows > 0 ? l.treeRows + (l.columnRow ? 1 : 0) + edges : 0;
      const below = open && l.detail !== 'beside' ? l.detailRows : 0;
      const panel = l.panelRows > 0 ? l.panelRows + (l.framed ? 2 : 1) : 0;
      expect(l.headerRows + tree + below + panel + l.footerRows).toBe(rows);
    }
  });

  test('detail goes beside on wide, below on high, instead of the tree on small screens', () => {
    expect(layoutFor({ columns: 200, rows: 50 }, true).detail).toBe('beside');
    expect(layoutFor({ columns: 60, rows: 40 }, true).detail).toBe('below');
    expect(layoutFor({ columns: 80, rows: 24 }, true).detail).toBe('instead');
  });
});

describe('text in cells', () => {
  test('wide and combining characters are counted as the terminal shows them', () => {
    expect(cells(toWidth('日本語テキスト', 6))).toBe(6);
    expect(toWidth('e\u0301te\u0301', 5)).toBe('e\u0301te\u0301  ');
    expect(runsWidth(runsToWidth([run('日本'), run('語語')], 7))).toBe(7);
  });
});

describe('themes', () => {
  test('without colour only bold, faint, underline and inverse are left', () => {
    for (const name of ['default', 'light', 'high-contrast'] as const) {
      const theme = themeFor(name, false);
      for (const tone of TONES) expect(theme[tone]).toMatch(/^(?:[1247](?:;[1247])*)?$/);
      expect(theme.selected).toContain('7');
    }
  });

  /** The fixed colours of the 256: a cube of six levels, then greys. */
  const rgb = (n: number): readonly [number, number, number] => {
    if (n >= 232) return [8 + 10 * (n - 232), 8 + 10 * (n - 232), 8 + 10 * (n - 232)];
    const level = (v: number): number => (v === 0 ? 0 : 55 + 40 * v);
    return [level(Math.floor((n - 16) / 36)), level(Math.floor((n - 16) / 6) % 6), level((n - 16) % 6)];
  };

  /** Contrast as WCAG counts it, of a colour on white or on the ground of the selected row. */
  const contrast = (n: number, ground: number): number => {
    const linear = (v: number): number =>
      v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]: readonly [number, number, number]): number =>
      0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) + 0.05;
    return light(rgb(ground)) / light(rgb(n));
  };
  const WHITE = 231;
  const GROUND = Number(/48;5;(\d+)/.exec(THEMES.light.selected)![1]);

  test('the light one is readable on white: no tone has a colour of the palette, each has a contrast of 4.5', () => {
    for (const tone of TONES) {
      const colour = /(?:^|;)38;5;(\d+)$/.exec(THEMES.light[tone])?.[1];
      // Rules are lines, not letters.
      if (colour !== undefined)
        expect([tone, contrast(Number(colour), WHITE) >= (tone === 'rule' ? 3 : 4.5)]).toEqual([tone, true]);
      else if (tone !== 'selected') expect(THEMES.light[tone]).toMatch(/^[147]?(?:;[147])*$/);
    }
  });

  test('on the ground of the selected row the letters stay readable', () => {
    for (const tone of TONES) {
      const colour = /(?:^|;)38;5;(\d+)$/.exec(THEMES.light[tone])?.[1];
      if (colour !== undefined && tone !== 'rule')
        expect([tone, contrast(Number(colour), GROUND) >= 3.5]).toEqual([tone, true]);
    }
  });

  test('painting closes what it opens and leaves out trailing blanks', () => {
    expect(paint([run('a'), run('b', 'leak'), run('  ')], THEMES.default)).toBe('a\u001b[1;31mb\u001b[0m');
    expect(paint(onSelected([run('a', 'leak'), run(' ')]), THEMES.default)).toBe(
      '\u001b[1;31;48;5;237ma\u001b[0m\u001b[48;5;237m \u001b[0m',
    );
    expect(paint(onSelected([run('a', 'leak'), run(' ')]), themeFor('default', false))).toBe(
      '\u001b[7ma \u001b[0m',
    );
  });

  test('the ground of the selected row is in the picture that e writes', () => {
    const [painted] = [paint(onSelected([run('ab', 'leak')]), THEMES.default)];
    const svg = svgOf([painted, 'plain'], 10, text => text.length, 'dark');
    expect(svg).toMatch(/<rect [^>]*fill="#3a3a3a"\/><text [^>]*fill="#e06c75"[^>]*>ab</);
    expect(svg.match(/#3a3a3a/g)).toHaveLength(1);
  });

  test('ASCII where the locale is not UTF-8', () => {
    expect(speaksUtf8({ LANG: 'en_GB.UTF-8' })).toBe(true);
    expect(speaksUtf8({ LC_ALL: 'C', LANG: 'en_GB.UTF-8' })).toBe(false);
    for (const glyph of Object.values(glyphsFor({ LANG: 'C' })).flat()) expect(glyph).toMatch(/^[ -~]+$/);
  });
});

describe('plots', () => {
  const points = (bytes: readonly number[]) => bytes.map((b, i) => ({ at: i * 10_000, bytes: b, cpu: 0 }));
  const MIB = 1024 ** 2;

  test('resampling keeps the last known value where nothing was sampled', () => {
    expect(
      resample(
        [
          { at: 0, bytes: 1, cpu: 0 },
          { at: 100, bytes: 9, cpu: 0 },
        ],
        4,
      ),
    ).toEqual([1, 1, 1, 9]);
  });

  test('a plot has the rows asked for, fullest below', () => {
    expect(memoryPlot([1, 2, 4], 2, { low: 0, high: 4 }, unicode)).toEqual(['  █', '▄██']);
  });

  test('growth tells the rate and when the limit is reached', () => {
    const g = growthOf(points(Array.from({ length: 61 }, (_, i) => (100 + i) * MIB)), 260 * MIB)!;
    expect(Math.round((g.bytesPerSecond / MIB) * 60)).toBe(6);
    expect(g.secondsToLimit).toBeCloseTo(1000, 0);
  });

  test('steady, shrinking or too short a history promises nothing', () => {
    expect(growthOf(points(Array.from({ length: 61 }, () => 5 * MIB)), 100 * MIB)!.secondsToLimit).toBeNull();
    expect(
      growthOf(points(Array.from({ length: 61 }, (_, i) => (100 - i) * MIB)), 900 * MIB)!.secondsToLimit,
    ).toBeNull();
    expect(growthOf(points([1, 2, 3]), 10)).toBeNull();
  });
});
