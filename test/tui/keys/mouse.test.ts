import { afterEach, describe, expect, test } from 'vitest';
import { DEFAULT_CONFIG } from '../../../src/model/config-defaults.ts';
import { until } from '../../support/until.ts';
import { type Driven, type DriveOptions, drive } from '../drive.ts';
import { handOf, readBy, SGR } from '../mouse-hand.ts';

let driven: Driven;
let hand: ReturnType<typeof handOf>;
const open = async (columns = 120, rows = 40, options: DriveOptions = {}): Promise<void> => {
  driven = await drive(columns, rows, options);
  hand = handOf(driven);
};
afterEach(async () => {
  await driven.close();
});
const text = (): string => driven.terminal.text();
const selected = (): string => driven.terminal.lines().find(line => /^│?▌/.test(line)) ?? '';
/** The entry under the cursor of a panel that has the keys. */
const entry = (): string => driven.terminal.lines().findLast(line => /^│?▌/.test(line)) ?? '';
const lastRow = (): string => driven.terminal.lines().at(-1)!;

describe('a click', () => {
  test('on a row selects it', async () => {
    await open();
    await hand.click('3402 ');
    expect(selected()).toContain('3402');
  });

  test('on a heading folds it, and again unfolds it', async () => {
    await open();
    await hand.click('▾ session c0ffee12');
    expect(selected()).toContain('▸ session c0ffee12');
    expect(text()).not.toContain('3402 153M');
    // Soon after the first, as a double click is: two clicks are two clicks.
    await hand.click('▸ session c0ffee12');
    expect(text()).toContain('3402 153M');
  });

  test('on a tab shows the panel and gives it the keys, and again gives them back', async () => {
    await open();
    await hand.click('Log ');
    expect(text()).toContain('guard: 4 ended');
    await driven.press('end');
    expect(entry()).toContain('guard: 4 ended');
    await hand.click('Log ');
    expect(entry()).not.toContain('guard');
  });

  test('on a word of the footer does what its key does', async () => {
    await open();
    await hand.click('help');
    expect(text()).toContain('Look around');
    await hand.click('any other key leaves');
    expect(text()).not.toContain('Look around');
    await hand.click('clean  ');
    expect(text()).toContain('Clean what is proven leaked');
    expect(driven.demo.system.delivered).toEqual([]);
  });

  test('on a word whose key cannot act now says why', async () => {
    await open(120, 50);
    await hand.click('▾ tmux agent_701');
    await hand.click('end  ');
    expect(lastRow()).toContain('Nothing to act on');
    // The words stand under the sentence: a click there only takes it away.
    await driven.type(SGR.click({ column: 2, row: 49 }));
    expect(lastRow()).toContain('help');
    expect(text()).not.toContain('Nothing to act on');
  });

  test('on a finding selects it in its panel; a double click goes to its process', async () => {
    await open();
    await hand.click(/critical claude task-688/);
    expect(entry()).toMatch(/^│?▌ critical claude task-688/);
    await hand.doubleClick(/critical lean-lsp-mcp/);
    expect(entry()).toContain('lean-lsp-mcp');
    expect(entry()).not.toContain('critical');
  });

  test('on a signal selects it, a double click shows the plan for it and runs nothing', async () => {
    await open(80, 24);
    await driven.press('down', 'signal');
    await hand.click('SIGSTOP');
    expect(text()).toMatch(/▌SIGSTOP/);
    await hand.doubleClick(/SIGCONT +resume after a pause/);
    expect(text()).toContain('Signal SIGCONT');
    expect(driven.demo.system.delivered).toEqual([]);
  });

  test.each([
    ['of the right button', '\u001b[<2;20;8M'],
    ['of the middle button', '\u001b[<1;20;8M'],
    ['with Ctrl', '\u001b[<16;20;8M'],
    ['that is a move with the button down', '\u001b[<32;20;8M'],
    ['that is a release', '\u001b[<0;20;8m'],
    ['beyond the edge', '\u001b[<0;500;800M'],
    ['in the corner that is none', '\u001b[<0;0;0M'],
  ])('%s does nothing', async (_, bytes) => {
    await open();
    const before = text();
    await driven.type(bytes);
    expect(text()).toBe(before);
  });
});

describe('a double click', () => {
  test('opens the detail of the row', async () => {
    await open();
    await hand.doubleClick('3402 ');
    expect(text()).toContain('lean-lsp-mcp 3402 ──');
    await hand.click('3505 ');
    expect(text()).toContain('chrome-devtools-mcp 3505 ──');
  });

  test('on a plan does nothing beside the word run, and one click on that word runs it', async () => {
    await open(100, 30);
    await driven.press('clean');
    await hand.click('3402 ');
    expect(driven.demo.system.delivered).toEqual([]);
    await until('the plan to be read', readBy());
    await hand.click('run.');
    await driven.terminal.until('Done');
    expect(driven.demo.system.delivered.length).toBeGreaterThan(0);
  });

  test('on the word that opens a plan does not answer it', async () => {
    await open(100, 30);
    await hand.doubleClick('clean  ');
    expect(text()).toContain('Clean what is proven leaked');
    expect(driven.demo.system.delivered).toEqual([]);
  });
});

describe('the wheel scrolls what is under it', () => {
  test('the tree, with the selection in view', async () => {
    await open(120, 30);
    const first = driven.terminal.lines()[4]!;
    await hand.wheel('1522 ', 2);
    expect(text()).not.toContain(first);
    expect(selected()).not.toBe('');
    await hand.wheel(/^│?▌/, -4);
    expect(driven.terminal.lines()[4]).toContain(first.slice(3, 30).trim());
  });

  test('a panel that has not the keys, and the keys stay where they are', async () => {
    await open(80, 24);
    const before = selected();
    const finding = driven.terminal.lines().findIndex(line => line.includes(' Findings ')) + 1;
    const first = driven.terminal.lines()[finding]!;
    await driven.type(SGR.wheelDown({ column: 5, row: finding }));
    expect(driven.terminal.lines()[finding]).not.toBe(first);
    expect(selected()).toBe(before);
    await driven.type(SGR.wheelUp({ column: 5, row: finding }).repeat(9));
    expect(driven.terminal.lines()[finding]).toBe(first);
  });

  test('the detail beside the tree and not the tree', async () => {
    await open(140, 24);
    await driven.press('next-finding', 'detail');
    const tree = driven.terminal.lines().map(line => line.slice(0, 40));
    await driven.type(SGR.wheelDown({ column: 120, row: 6 }));
    expect(driven.terminal.lines().map(line => line.slice(0, 40))).toEqual(tree);
    expect(text()).toMatch(/J K scroll/);
  });

  test('help and a plan, without leaving them', async () => {
    await open(80, 24);
    await driven.press('help');
    const top = text();
    await driven.type(SGR.wheelDown({ column: 10, row: 10 }));
    expect(text()).not.toBe(top);
    await driven.type(SGR.wheelUp({ column: 10, row: 10 }).repeat(3));
    expect(text()).toBe(top);
  });
});

describe('whether there is a mouse', () => {
  const asked = (): boolean => driven.terminal.stdout.writes.join('').includes('\u001b[?1000h\u001b[?1006h');

  test('there is, unless the config or the flag says no; it is always given back', async () => {
    await open(80, 24);
    expect(asked()).toBe(true);
    await driven.close();
    expect(driven.terminal.stdout.writes.at(-1)).toContain('\u001b[?1006l\u001b[?1000l');
    await open(80, 24, { mouse: false });
    expect(asked()).toBe(false);
    await driven.close();
    const config = { ...DEFAULT_CONFIG, mouse: false };
    await open(80, 24, { config });
    expect(asked()).toBe(false);
  });
});
