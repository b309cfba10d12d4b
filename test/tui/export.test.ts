import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, test } from 'vitest';
import type { Live } from '../../src/engine/live-state.ts';
import { snapshotSchema } from '../schema/snapshot-schema.ts';
import { type Driven, drive, standingDemo } from './drive.ts';
import { handOf } from './mouse-hand.ts';

let driven: Driven;
let written: { extension: string; text: string }[] = [];
const open = async (columns = 100, rows = 30, change: Partial<Live> = {}): Promise<void> => {
  written = [];
  driven = await drive(columns, rows, {
    answering: () => ({
      exportScreen: async (extension, text) => {
        written.push({ extension, text });
        return `/work/reaptop.${extension}`;
      },
      ...change,
    }),
  });
};
afterEach(async () => {
  await driven.close();
});
const text = (): string => driven.terminal.text();
const lastRow = (): string => driven.terminal.lines().at(-1)!;
const selected = (): string => driven.terminal.lines().find(line => /^│?▌/.test(line)) ?? '';

describe('e writes the screen to a file and says which', () => {
  test('as text: what was on the screen when it was pressed, footer and all', async () => {
    await open();
    const before = text();
    await driven.press('export');
    expect(lastRow()).toMatch(/t text +s SVG +j JSON/);
    await driven.press('export-text');
    expect(written).toEqual([{ extension: 'txt', text: `${before}\n` }]);
    expect(lastRow()).toContain('Written: /work/reaptop.txt');
  });

  test('as a picture, which holds every word and nothing that is no SVG', async () => {
    await open();
    await driven.press('export', 'export-svg');
    const svg = written[0]!.text;
    expect(svg).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
    expect(svg).toContain('lean-lsp-mcp');
    expect(svg).not.toContain('\u001b');
    const { Resvg } = await import('@resvg/resvg-js');
    expect(new Resvg(svg).render().asPng().length).toBeGreaterThan(1000);
  });

  test('as JSON: what --json would say', async () => {
    await open();
    await driven.press('export', 'export-json');
    expect(snapshotSchema.safeParse(JSON.parse(written[0]!.text)).error).toBeUndefined();
  });

  test('any other key leaves, a click on a word chooses, and what cannot be written is said', async () => {
    await open(100, 30, { exportScreen: () => Promise.reject(new Error('Nothing was written: no.')) });
    await driven.press('export');
    await driven.type('\u001b');
    expect(lastRow()).toContain('clean');
    await driven.press('export');
    await handOf(driven).click('text ');
    expect(lastRow()).toContain('Nothing was written: no.');
  });
});

describe('Y copies', () => {
  /** What the terminal was asked to put into its clipboard, in order. */
  const clipboard = (): string[] =>
    [...driven.terminal.stdout.writes.join('').matchAll(/\u001b\]52;c;([^\u0007]*)\u0007/g)].map(
      ([, base64]) => Buffer.from(base64!, 'base64').toString(),
    );

  test('the pid, and again the command, to the clipboard and to tmux', async () => {
    const toTmux: string[] = [];
    await open(100, 30, {
      copyToTmux: async copied => {
        toTmux.push(copied);
        return true;
      },
    });
    await driven.type('/3402\r');
    await driven.press('copy');
    expect(lastRow()).toContain('Copied pid 3402 (clipboard and tmux). Y again: the command.');
    await driven.press('copy');
    const expected = ['3402', 'python /home/ada/.cache/uv/bin/lean-lsp-mcp'];
    expect(clipboard()).toEqual(expected);
    expect(toTmux).toEqual(expected);
  });

  test('a command as a shell can take it, and runs none of what is only an argument', async () => {
    const argv = ['node', '-e', 'f()', '$(touch x);', '~/*', "it's", ''];
    const demo = await standingDemo();
    const state = demo.live.getState();
    const processes = state.snapshot.processes.map(p =>
      p.facts.pid === 3402 ? { ...p, facts: { ...p.facts, argv } } : p,
    );
    const changed = { ...state, snapshot: { ...state.snapshot, processes } };
    driven = await drive(100, 30, { demo, answering: () => ({ getState: () => changed }) });
    await driven.filterTo(3402);
    await driven.press('copy', 'copy');
    const words = `for word in ${clipboard().at(-1)}; do printf '%s\\0' "$word"; done`;
    expect(execFileSync('sh', ['-c', words]).toString()).toBe(argv.map(word => `${word}\0`).join(''));
  });

  test('all that is marked; on a heading it says why not', async () => {
    await open();
    await driven.filterTo(5330);
    await driven.press('back', 'left', 'left', 'left', 'left', 'copy');
    expect(lastRow()).toContain('Nothing to copy');
    await driven.filterTo(3310);
    await driven.press('back', 'mark', 'mark', 'copy');
    expect(clipboard()).toEqual(['3310 3331']);
  });
});

describe('search hides nothing', () => {
  test('tab in the prompt: the first match is selected, enter goes on, Esc leaves it there', async () => {
    await open(120, 40);
    const rows = driven.terminal.lines().length;
    await driven.press('filter', 'filter-search');
    await driven.type('chrome');
    expect(lastRow()).toContain('search chrome');
    expect(selected()).toContain('chrome-devtools-mcp');
    expect(text()).toContain('lean --worker');
    await driven.press('search-next');
    expect(selected()).toContain('3520');
    await driven.press('search-next');
    expect(selected()).toContain('3533');
    await driven.press('search-leave');
    expect(selected()).toContain('3533');
    expect(lastRow()).not.toContain('search chrome');
    expect(driven.terminal.lines().length).toBe(rows);
  });

  test('what was typed goes along with tab, there and back', async () => {
    await open(120, 40);
    await driven.type('/vite');
    expect(text()).not.toContain('3402 153M');
    await driven.type('\t');
    expect(lastRow()).toContain('search vite');
    expect(text()).toContain('3402 153M');
    expect(selected()).toContain('vite');
    await driven.type('\t');
    expect(lastRow()).toContain('filter vite');
    expect(text()).not.toContain('3402 153M');
  });

  test('finds what is folded away, goes round, and says when there is nothing', async () => {
    await open(120, 40);
    await driven.press('level-1', 'filter', 'filter-search');
    await driven.type('3460');
    expect(selected()).toContain('lean --worker');
    await driven.press('search-next');
    expect(selected()).toContain('lean --worker');
    await driven.type('999');
    expect(lastRow()).toContain('Nothing matches "3460999".');
  });
});
