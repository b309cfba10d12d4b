import { afterEach, expect, test } from 'vitest';
import { type Driven, drive } from '../drive.ts';

let driven: Driven;
afterEach(async () => {
  await driven.close();
});
const text = (): string => driven.terminal.text();
const lastRow = (): string => driven.terminal.lines().at(-1)!;

test('what was done before: who asked, whom it ended, how much came back; enter opens all of it', async () => {
  driven = await drive(120, 40);
  await driven.press('previous-panel');
  expect(text()).toMatch(
    /guard: 4 ended, 512 MiB freed: chroma-mcp \(2214\), npm exec chroma-mcp \(2215\) and 2 more/,
  );
  await driven.press('end', 'detail');
  expect(text()).toContain('by guard');
  expect(text()).toContain('asked for: policy: proven leaks');
  expect(text()).toMatch(/ended +2302 lean-lsp-mcp +110M/);
  expect(lastRow()).toContain('any other key leaves');
  await driven.type('q');
  expect(text()).not.toContain('asked for:');
});

test('what this screen did, and the findings that went with it', async () => {
  driven = await drive(120, 40);
  await driven.press('clean');
  await driven.type('y');
  await driven.terminal.until('8 ended, 1 killed');
  await driven.press('running-leave', 'previous-panel');
  expect(text()).toMatch(/tui: 8 ended, 1 killed, 3\.0 GiB freed: .* and 7 more/);
  expect(text()).toMatch(/resolved: /);
  const log = driven.demo.live.getState().log;
  const act = log.findIndex(line => line.entry?.by === 'tui');
  await driven.type('j'.repeat(log.length - 1 - act));
  await driven.press('detail');
  expect(text()).toContain('asked for: c: clean what is proven leaked');
  expect(text()).toMatch(/killed +3460 lean --worker/);
});

test('a finding that came leads to its process', async () => {
  driven = await drive(120, 40);
  driven.demo.system.deliver?.(1402, 'SIGSTOP');
  await driven.demo.tick(2);
  await driven.press('previous-panel');
  expect(text()).toContain('found: chroma-mcp (1402) is stopped');
  await driven.press('detail');
  expect(driven.terminal.lines().find(line => /^│?▌/.test(line))).toContain('1402');
});

test('an entry that is longer than the screen scrolls', async () => {
  driven = await drive(40, 10);
  await driven.press('previous-panel', 'end', 'detail');
  expect(text()).toMatch(/of \d+ ▼/);
  await driven.press('entry-down', 'entry-down');
  expect(text()).toMatch(/of \d+ ▲/);
});
