import { expect, test } from 'vitest';
import { drive } from '../drive.ts';

test('which session waits for me: no key, in 60 columns too', async () => {
  for (const [columns, rows] of [
    [60, 40],
    [80, 24],
    [120, 40],
    [200, 50],
  ] as const) {
    const driven = await drive(columns, rows, { level: 2 });
    expect(driven.terminal.text()).toContain('1 waiting');
    expect(driven.terminal.text()).toMatch(/WAIT .*claude .*waits/);
    await driven.close();
  }
});

test('in 80 columns, where what it does has a narrow column, too', async () => {
  const driven = await drive(80, 24);
  await driven.press('filter');
  await driven.type('1501');
  expect(driven.terminal.text()).toMatch(/1501 .*claude +sph\S*: waits 12m/);
  await driven.close();
});

test('with room for it, its own name and what it waits for', async () => {
  const driven = await drive(180, 50);
  await driven.press('filter');
  await driven.type('1501');
  expect(driven.terminal.text()).toMatch(/1501 .*“density bound”: waits for you: permission prompt 12m/);
  await driven.close();
});

test('at 200 columns every agent’s row says its project, its name and what it does now, before what its files say', async () => {
  const driven = await drive(200, 70);
  const row = (pid: number): string => driven.terminal.lines().find(line => line.includes(` ${pid} `))!;
  expect(row(1342)).toContain('webshop “checkout flow”: busy');
  expect(row(1501)).toContain('sphere-packing “density bound”: waits for you: permission prompt 12m');
  expect(row(2101)).toContain('mathlib-fork: busy');
  expect(row(1712)).toContain('prices-api: busy');
  expect(row(3755)).toContain('notes: idle 6h00m; adopted by PID 1');
  expect(row(4001)).toContain('atlas-docs: idle 40m');
  expect(row(5230)).toContain(
    'task-688: hung: lean-lsp lean_diagnostic_messages 13m; silent for 13m: task 688',
  );
  await driven.close();
});

test('in 60 columns the others say it too', async () => {
  const driven = await drive(60, 95);
  const row = (pid: number): string => driven.terminal.lines().find(line => line.includes(` ${pid} `))!;
  expect(row(1342)).toMatch(/claude \S* +busy/);
  expect(row(4001)).toMatch(/claude \S* +idle 40m/);
  expect(row(5230)).toMatch(/claude +hung: le\S*… 13m/);
  expect(row(5230)).not.toContain('silent');
  await driven.close();
});

test('the detail pane says it whole, with the id that resumes it', async () => {
  const driven = await drive(80, 24);
  await driven.press('filter');
  await driven.type('1501');
  await driven.press('filter-keep', 'detail');
  expect(driven.terminal.text()).toMatch(
    /session +sphere-packing “density bound”: waits for you: permission prompt +│\n│ +12m +│\n│ +id [0-9a-f]{8}-/,
  );
  await driven.close();
});
