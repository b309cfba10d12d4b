import { expect, test } from 'vitest';
import { ALERTS, rulesText } from '../../src/guard/alert-rules.ts';
import { DASHBOARD_PANELS, dashboardText } from '../../src/guard/dashboard.ts';

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly type: string;
  readonly datasource: object;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig: object;
  readonly targets: readonly { readonly refId: string; readonly expr: string; readonly instant?: boolean }[];
}
const dashboard = () =>
  JSON.parse(dashboardText()) as {
    readonly tags: readonly string[];
    readonly time: object;
    readonly templating: { readonly list: readonly Readonly<Record<string, unknown>>[] };
    readonly panels: readonly Panel[];
  };

test('every panel of the dashboard stands in the grid, row by row, and none covers another', () => {
  const taken = new Set<string>();
  const { panels } = dashboard();
  for (const { gridPos } of panels) {
    expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(taken.has(`${x} ${y}`)).toBe(false);
        taken.add(`${x} ${y}`);
      }
  }
  const rows = new Set(panels.map(({ gridPos }) => gridPos.y));
  const quarters = DASHBOARD_PANELS.reduce((sum, { wide }) => sum + (wide === true ? 2 : 1), 0);
  expect([...rows][0]).toBe(0);
  expect(rows.size).toBeLessThanOrEqual(Math.ceil(quarters / 4) + 1);
  expect(panels.map(({ id }) => id)).toEqual(panels.map((_, index) => index + 1));
});

test('a panel asks the chosen source, in its unit; tables ask for now', () => {
  for (const [index, panel] of dashboard().panels.entries()) {
    const { queries, kind, unit = 'short' } = DASHBOARD_PANELS[index]!;
    expect(panel).toMatchObject({
      type: kind,
      datasource: { type: 'prometheus', uid: '$datasource' },
      fieldConfig: { defaults: { unit }, overrides: [] },
    });
    expect(panel.targets.map(({ refId }) => refId)).toEqual([...'ABCDEF'].slice(0, queries.length));
    expect(panel.targets.map(({ expr }) => expr)).toEqual(queries.map(({ expression }) => expression));
    for (const { instant } of panel.targets) expect(instant).toBe(kind === 'table' ? true : undefined);
  }
});

test('the dashboard lets its reader choose the source and several machines', () => {
  const { templating, tags, time } = dashboard();
  expect(tags).toEqual(['reaptop']);
  expect(time).toEqual({ from: 'now-6h', to: 'now' });
  expect(templating.list).toMatchObject([
    { name: 'datasource', type: 'datasource', query: 'prometheus' },
    {
      name: 'instance',
      datasource: { uid: '$datasource' },
      includeAll: true,
      multi: true,
      current: { text: 'All' },
    },
  ]);
});

test('every alert is a rule with its expression, and waits as long as it says', () => {
  const text = rulesText();
  expect(text).toMatch(/^groups:\n {2}- name: reaptop\n {4}rules:\n {6}- alert: /);
  for (const { name, expression, lasts } of ALERTS) {
    const rule = text.split('      - alert: ').find(part => part.startsWith(`${name}\n`))!;
    expect(rule).toContain(`expr: ${JSON.stringify(expression)}`);
    expect(/^ {8}for: (.*)$/m.exec(rule)?.[1]).toBe(lasts);
  }
});
