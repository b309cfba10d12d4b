import { describe, expect, test } from 'vitest';
import { shellLine } from '../../../src/model/shell.ts';
import { setupItems } from '../../../src/tui/setup/setup-items.ts';
import { invent, snapshotOf } from '../../judge/plan/machine.ts';
import { ENDED, type Hand, handOn } from '../hand.ts';

const times = (n: number, key: string): string[] => Array.from({ length: n }, () => key);
const cursor = ({ store }: Hand): number | null =>
  store.view.overlay?.kind === 'setup' ? store.view.overlay.cursor : null;
const look = ({ store }: Hand) => store.view.look;
/** The setup, with the cursor on this item. */
const setupAt = (item: number, hand = handOn()): Hand => {
  hand.press(',', ...times(item, 'j'));
  return hand;
};
const AUTOMATIC = ['verdict', 'pid', 'mem', 'tree', 'cpu', 'age', 'state'];

describe('the setup', () => {
  test('has a cursor that stops at both ends', () => {
    const hand = setupAt(0);
    hand.press('k');
    expect(cursor(hand)).toBe(0);
    hand.press('j', 'down', 'up');
    expect(cursor(hand)).toBe(1);
    hand.press(...times(30, 'j'));
    expect(cursor(hand)).toBe(setupItems(hand.store.screen).length - 1);
  });

  test('goes round the themes both ways', () => {
    const hand = setupAt(0);
    const theme = (key: string) => {
      hand.press(key);
      return look(hand).theme;
    };
    expect(['l', 'right', 'space', 'l'].map(theme)).toEqual(['default', 'light', 'high-contrast', 'auto']);
    expect(['h', 'left'].map(theme)).toEqual(['high-contrast', 'light']);
  });

  test('changes the interval and the mouse', () => {
    const interval = setupAt(1);
    interval.press('l', 'h', 'h', 'enter');
    expect(interval.asked).toEqual(['interval 3', 'interval 2', 'interval 1', 'interval 2']);
    const mouse = setupAt(2);
    const on = look(mouse).mouse;
    mouse.press('l');
    expect(look(mouse).mouse).toBe(!on);
    mouse.press('h');
    expect(look(mouse).mouse).toBe(on);
  });

  test('takes the columns of the width over as they are, and gives them back', () => {
    const hand = setupAt(3);
    hand.press('space');
    expect(look(hand).columns).toEqual(AUTOMATIC);
    hand.press('l');
    expect(look(hand).columns).toBeNull();
  });

  test('moves a column that is on, and the cursor with it, to either end and no further', () => {
    const hand = setupAt(5);
    hand.press('l');
    expect([look(hand).columns?.slice(0, 4), cursor(hand)]).toEqual([['verdict', 'mem', 'pid', 'tree'], 6]);
    hand.press('h', 'h');
    expect([look(hand).columns?.slice(0, 3), cursor(hand)]).toEqual([['pid', 'verdict', 'mem'], 4]);
    hand.press('h');
    expect([look(hand).columns?.[0], cursor(hand)]).toEqual(['pid', 4]);
    hand.press(...times(9, 'l'));
    expect([look(hand).columns?.at(-1), look(hand).columns?.length, cursor(hand)]).toEqual(['pid', 7, 10]);
    const off = setupAt(11);
    off.press('l', 'h');
    expect([look(off).columns, cursor(off)]).toEqual([null, 11]);
  });

  test('switches a column off and on; the cursor stays on it', () => {
    const hand = setupAt(5);
    hand.press('space');
    expect(look(hand).columns).toEqual(AUTOMATIC.filter(id => id !== 'pid'));
    const item = () => setupItems(hand.store.screen)[cursor(hand)!];
    expect(item()).toEqual({ kind: 'column', id: 'pid', on: false });
    hand.press('enter');
    expect(look(hand).columns).toEqual([...AUTOMATIC.filter(id => id !== 'pid'), 'pid']);
    expect(item()).toEqual({ kind: 'column', id: 'pid', on: true });
  });

  test('is saved with all it shows, and says where; where that fails it stays open', async () => {
    const hand = setupAt(1);
    hand.press('l', 's');
    expect(hand.asked.at(-1)).toBe('save {"theme":"auto","columns":null,"mouse":true,"interval":3}');
    await hand.answered();
    expect([cursor(hand), hand.said(), hand.tone()]).toEqual([null, 'Saved.', 'good']);
    const denied = setupAt(
      0,
      handOn({ answers: { saveSettings: () => Promise.reject(new Error('read-only')) } }),
    );
    denied.press('s');
    await denied.answered();
    expect([cursor(denied), denied.said(), denied.tone()]).toEqual([0, 'read-only', 'bad']);
  });

  test('is left with everything as it was', () => {
    const hand = setupAt(0);
    const before = look(hand);
    hand.press('l', 'j', 'l', 'j', 'space', 'escape');
    expect([look(hand), hand.asked, cursor(hand)]).toEqual([before, ['interval 3', 'interval 2'], null]);
    const idle = setupAt(0);
    idle.press('q');
    expect([idle.asked, cursor(idle)]).toEqual([[], null]);
  });
});

describe('e', () => {
  test.each([
    ['t', 'export txt red\nplain\n'],
    ['s', 'export svg <svg'],
    ['j', 'export json {\n  "'],
  ])('and %s write the screen as it was then', async (key, begins) => {
    const hand = handOn();
    hand.press('e', key);
    expect(hand.asked[0]?.slice(0, begins.length)).toBe(begins);
    expect(hand.store.view.overlay).toBeNull();
    await hand.answered();
    expect([hand.said(), hand.tone()]).toEqual(['Written: /here/screen', 'good']);
  });

  test('the picture is as light as the screen', () => {
    const picture = (theme: 'light' | 'default') => {
      const hand = handOn();
      hand.dispatch({ type: 'look', look: { theme } });
      hand.press('e', 's');
      return hand.asked[0];
    };
    expect(picture('light')).not.toBe(picture('default'));
  });

  test('text has no blanks at its end, and ends its last line', () => {
    const hand = handOn();
    hand.press('e', 't');
    expect(hand.asked).toEqual(['export txt red\nplain\n']);
  });

  test('what could not be written is told', async () => {
    const hand = handOn({ answers: { exportScreen: () => Promise.reject(new Error('full')) } });
    hand.press('e', 't');
    await hand.answered();
    expect([hand.said(), hand.tone()]).toEqual(['full', 'bad']);
  });
});

describe('Y', () => {
  const argv = ['sh', '-c', 'echo $HOME; ls'];
  const machine = snapshotOf([
    invent(20, 1, { owner: ENDED, facts: { argv } }),
    invent(30, 1, { owner: ENDED, command: 'a name', facts: { argv: null } }),
    invent(31, 1, { owner: ENDED, command: 'empty', facts: { argv: [] } }),
  ]);

  test('copies the pids, then their commands as a shell takes them, then the pids again', async () => {
    const hand = handOn({ snapshot: machine });
    hand.press('space', 'Y');
    expect(hand.asked).toEqual(['clipboard 20 30 31', 'tmux 20 30 31']);
    await hand.answered();
    expect([hand.said(), hand.tone()]).toEqual(['Copied pid 20 30 31. Y again: the command.', 'good']);
    hand.press('Y');
    const commands = [argv, ['a name'], ['empty']].map(shellLine).join('\n');
    expect(hand.asked.slice(2)).toEqual([`clipboard ${commands}`, `tmux ${commands}`]);
    await hand.answered();
    expect(hand.said()).toBe('Copied the command.');
    hand.press('Y');
    expect(hand.asked.at(-1)).toBe('tmux 20 30 31');
  });

  test('begins with the pid of another selection, and says where it went', async () => {
    const hand = handOn({ snapshot: machine, answers: { copyToTmux: async () => true } });
    hand.press('j', 'Y', 'j', 'Y');
    expect(hand.asked).toEqual(['clipboard 20', 'clipboard 30']);
    await hand.answered();
    expect(hand.said()).toBe('Copied pid 30 (clipboard and tmux). Y again: the command.');
    const gone = handOn({ answers: { copyToTmux: () => Promise.reject(new Error('no tmux')) } });
    gone.press('j', 'Y');
    await gone.answered();
    expect([gone.said(), gone.tone()]).toEqual(['Copied pid 20. Y again: the command.', 'good']);
  });
});
