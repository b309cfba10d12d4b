import { afterEach, describe, expect, test } from 'vitest';
import type { UiSettings } from '../../../src/model/ui-settings.ts';
import { type Driven, drive } from '../drive.ts';
import { handOf } from '../mouse-hand.ts';

let driven: Driven;
let saved: UiSettings[] = [];
const open = async (columns = 120, rows = 40): Promise<void> => {
  saved = [];
  driven = await drive(columns, rows, {
    answering: () => ({
      saveSettings: async settings => {
        saved.push(settings);
        return 'Saved.';
      },
    }),
  });
};
afterEach(async () => {
  await driven.close();
});
const text = (): string => driven.terminal.text();
const header = (): string => driven.terminal.lines().find(line => / NAME/.test(line))!;
const title = () => driven.terminal.cells(0)[1]!.foreground;

describe('the setup screen', () => {
  test.each([',', '\u001bOQ'])('opens with %j', async key => {
    await open();
    await driven.type(key);
    expect(text()).toContain('─ Setup ──');
  });

  test('shows a theme as soon as it is chosen, and saves it', async () => {
    await open();
    await driven.press('setup');
    await driven.type('\u001b[C\u001b[C');
    expect(text()).toContain('◂ light ▸');
    expect(title()).toBe(25);
    await driven.press('setup-save');
    expect(saved).toEqual([{ theme: 'light', columns: null, mouse: true, interval: 2 }]);
    expect(text()).toContain('Saved.');
    expect(text()).not.toContain('─ Setup ──');
    expect(title()).toBe(25);
  });

  test('Esc puts everything back', async () => {
    await open();
    const before = text();
    await driven.press('setup');
    await driven.type('ll');
    await driven.type('jl');
    await driven.type('j ');
    await driven.type('j ');
    await driven.type('j ');
    expect(text()).toContain('every 3s');
    expect(driven.terminal.stdout.writes.join('')).toContain('\u001b[?1006l');
    await driven.press('setup-leave');
    expect(text()).toBe(before);
    expect(saved).toEqual([]);
    expect(driven.terminal.stdout.writes.at(-1)).not.toContain('\u001b[?1006l');
  });

  test('columns go off and on and change places, and the tree shows it', async () => {
    await open();
    expect(header()).toMatch(/PID +MEM +TREE +CPU%/);
    await driven.press('setup');
    await driven.type('jjjjj');
    expect(text()).toMatch(/▌ +\[x\] pid/);
    await driven.type('l');
    await driven.press('setup-up');
    await driven.press('setup-toggle');
    await driven.press('setup-save');
    expect(header()).toMatch(/^│ +MARK +PID +TREE +CPU%/);
    expect(saved[0]!.columns).toEqual(['verdict', 'pid', 'tree', 'cpu', 'age', 'state', 'ports']);
  });

  test('a click chooses a setting, a double click switches it', async () => {
    await open();
    await driven.press('setup');
    await handOf(driven).doubleClick('[ ] kind');
    expect(text()).toContain('[x] kind');
  });

  test.each([
    [40, 10],
    [60, 40],
    [200, 50],
  ])('at %i×%i every setting can be reached', async (columns, rows) => {
    await open(columns, rows);
    await driven.press('setup');
    await driven.type('j'.repeat(30));
    expect(text()).toMatch(/▌ +\[[ x]\] (?:tty|kind|tree|pid|state)/);
    expect(text()).toMatch(/save/);
  });
});
