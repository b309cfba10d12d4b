import { describe, expect, test } from 'vitest';
import { backgroundOfEnvironment, backgroundOfReply } from '../../../src/tui/terminal/background.ts';
import { drive } from '../drive.ts';

describe('COLORFGBG', () => {
  test.each([
    ['15;0', 'dark'],
    ['0;15', 'light'],
    ['0;default;15', 'light'],
    ['0;7', 'light'],
    ['7;8', 'dark'],
    ['15;default', null],
    ['15', null],
    ['0;99', null],
    ['', null],
    [undefined, null],
  ] as const)('%s is %s', (COLORFGBG, expected) => {
    expect(backgroundOfEnvironment({ COLORFGBG })).toBe(expected);
  });
});

describe('the answer to OSC 11', () => {
  test.each([
    ['11;rgb:ffff/ffff/ffff', 'light'],
    ['11;rgb:fdfd/f6f6/e3e3', 'light'],
    ['11;rgb:0000/2b2b/3636', 'dark'],
    ['11;rgb:ff/ff/ff', 'light'],
    ['11;rgba:0/0/0/ffff', 'dark'],
    ['10;rgb:ffff/ffff/ffff', null],
    ['11;nonsense', null],
  ] as const)('%s is %s', (text, expected) => {
    expect(backgroundOfReply(text)).toBe(expected);
  });
});

describe('the theme by itself', () => {
  /** Of the title in the upper left corner. */
  const title = (driven: Awaited<ReturnType<typeof drive>>) => driven.terminal.cells(0)[1]!.foreground;
  const LIGHT = 25;
  const DARK = 6;

  test('is by COLORFGBG at once, and by what the terminal answers from then on', async () => {
    const driven = await drive(80, 24, { env: { LANG: 'C.UTF-8', COLORFGBG: '0;15' } });
    expect(driven.terminal.stdout.writes.join('')).toContain('\u001b]11;?\u001b\\');
    expect(title(driven)).toBe(LIGHT);
    await driven.type('\u001b]11;rgb:0000/0000/0000\u001b\\');
    expect(title(driven)).toBe(DARK);
    await driven.type('\u001b]11;rgb:ffff/ffff/ffff\u0007');
    expect(title(driven)).toBe(LIGHT);
    await driven.close();
  });

  test('is not asked for without colour, and a theme that was chosen stays', async () => {
    const plain = await drive(80, 24, { color: false });
    expect(plain.terminal.stdout.writes.join('')).not.toContain(']11;?');
    await plain.close();
    const chosen = await drive(80, 24, { theme: 'default' });
    await chosen.type('\u001b]11;rgb:ffff/ffff/ffff\u0007');
    expect(title(chosen)).toBe(DARK);
    await chosen.close();
  });
});
