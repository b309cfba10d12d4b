import { describe, expect, test } from 'vitest';
import type { LogLine } from '../../src/engine/live-state.ts';
import { helpContent } from '../../src/tui/help/help.tsx';
import { entryContent } from '../../src/tui/panels/log-entry.tsx';
import { planOf } from '../act/fake-system.ts';
import { id, invent, snapshotOf } from '../judge/plan/machine.ts';
import { type Hand, handOn } from './hand.ts';

const fails = (message: string) => () => Promise.reject(new Error(message));
const times = (n: number, key: string): string[] => Array.from({ length: n }, () => key);

describe('the filter', () => {
  test('hides what does not match, selects the first match, and is kept or cleared', () => {
    const hand = handOn();
    hand.press('/', 'p', '3', '1');
    expect([hand.shown(), hand.selected()]).toEqual([['tmux main', 30, 31], 31]);
    hand.press('backspace');
    expect(hand.store.view.filter).toBe('p3');
    expect(hand.selected()).toBe(31);
    hand.press('up', 'down', 'enter');
    expect([hand.store.view.filterOpen, hand.store.view.filter]).toEqual([false, 'p3']);
    hand.press('/', 'escape');
    expect([hand.store.view.filter, hand.shown().length]).toEqual(['', 10]);
  });

  test('keeps a selection that matches, and takes keys that are bound elsewhere as text', () => {
    const hand = handOn();
    hand.press('j', 'j', 'j', '/', 'p', 'f1', 'q', 'backspace');
    expect([hand.selected(), hand.store.view.filter, hand.asked]).toEqual([22, 'p', []]);
    hand.press('z', 'z');
    expect([hand.shown(), hand.store.view.filter]).toEqual([[], 'pzz']);
  });

  test('selects the very first row where that is the first match', () => {
    const hand = handOn();
    hand.press('t', 't', 'G', '/', 'p', '2', '0');
    expect([hand.shown(), hand.selected()]).toEqual([[20], 20]);
    hand.press('escape', 'G', '/', 'p', '2');
    expect([hand.store.view.selectedIndex, hand.selected()]).toEqual([3, 23]);
  });

  test('takes a paste without its ends and with what could move the cursor made visible', () => {
    const hand = handOn();
    hand.press('/');
    hand.paste('  p40\n');
    expect([hand.store.view.filter, hand.selected()]).toEqual(['p40', 40]);
    hand.paste('\u001b[2J');
    expect(hand.store.view.filter).not.toContain('\u001b');
  });
});

describe('the search', () => {
  test('goes to the first match from the selection on, hides nothing, and unfolds what it finds', () => {
    const hand = handOn();
    hand.press('H', '/', 'tab', 'p', '2');
    expect([hand.selected(), hand.shown().includes('tmux main')]).toEqual([20, true]);
    hand.press('2');
    expect([hand.selected(), hand.shown().includes(22)]).toEqual([22, true]);
    hand.press('backspace');
    expect([hand.store.view.search, hand.selected()]).toEqual(['p2', 22]);
  });

  test('goes on with enter, and from the top again', () => {
    const hand = handOn();
    hand.press('/', 'tab', 'p', '2');
    const next = times(4, 'enter').map(key => {
      hand.press(key);
      return hand.selected();
    });
    expect(next).toEqual([21, 22, 23, 20]);
    hand.press('down');
    expect(hand.selected()).toBe(21);
    hand.press('up');
    expect(hand.selected()).toBe(20);
    hand.press('escape');
    expect([hand.selected(), hand.store.view.filterOpen]).toEqual([20, false]);
  });

  test('takes over what was filtered, and gives it back', () => {
    const hand = handOn();
    hand.press('/', 'p', '3', 'tab');
    expect([hand.store.view.search, hand.shown().length, hand.selected()]).toEqual(['p3', 10, 30]);
    hand.press('tab');
    expect([hand.store.view.filter, hand.store.view.searching]).toEqual(['p3', false]);
    hand.press('escape', '/', 'p', '3', '1', 'up', 'up');
    expect(hand.selected()).toBe('tmux main');
    hand.press('tab');
    expect(hand.selected()).toBe(31);
    const empty = handOn();
    empty.press('/', 'tab');
    expect([empty.said(), empty.selected()]).toEqual([null, 'session ended']);
    empty.press('p', 'backspace');
    expect([empty.said(), empty.store.view.search]).toEqual([null, '']);
  });

  test('says when nothing matches, and takes a paste', () => {
    const hand = handOn();
    hand.press('/', 'tab', 'f1');
    expect(hand.store.view.search).toBe('');
    hand.paste(' nobody ');
    expect(hand.said()).toBe('Nothing matches "nobody".');
    hand.press('escape', '/', 'tab', 'enter');
    expect(hand.said()).toContain('Nothing matches');
  });
});

describe('what is looked at', () => {
  test('t goes round the groupings; M, P and T list from the top', () => {
    const hand = handOn();
    const said = times(3, 't').map(key => {
      hand.press(key);
      return hand.said();
    });
    expect(said).toEqual(['By project.', 'One flat list.', 'By tmux session.']);
    expect(hand.tone()).toBe('plain');
    for (const [key, sort] of [
      ['M', 'memory'],
      ['P', 'cpu'],
      ['T', 'start'],
    ] as const) {
      hand.press('G', key);
      expect(hand.store.view).toMatchObject({ grouping: 'flat', sort, selectedIndex: 0 });
    }
    hand.press('s');
    expect(hand.store.view.sort).toBe('memory');
  });

  test('a asks for all processes and back', () => {
    const hand = handOn();
    hand.press('a');
    expect([hand.asked, hand.store.view.all]).toEqual([['all true'], true]);
    hand.press('a');
    expect([hand.asked, hand.store.view.all]).toEqual([['all true', 'all false'], false]);
  });

  test('p keeps what is shown while the engine goes on', () => {
    const hand = handOn();
    const { snapshot } = hand.store;
    hand.press('p');
    hand.become({ snapshot: snapshotOf([invent(20, 1)]) });
    expect([hand.store.snapshot === snapshot, hand.shown().length]).toEqual([true, 10]);
    hand.press('p');
    expect([hand.shown(), hand.asked]).toEqual([['session ended', 20], []]);
  });

  test('r looks again and paints everything', () => {
    const hand = handOn();
    hand.press('r');
    expect(hand.asked).toEqual(['refresh', 'redraw']);
  });

  test('+ and - step through the intervals and say where they end', () => {
    const hand = handOn();
    hand.press('+', '=', '-', '-', '_');
    expect(hand.asked.map(word => Number(word.split(' ')[1]))).toEqual([3, 5, 3, 2, 1]);
    hand.press('-', '-');
    expect(hand.said()).toBe('The interval stays at 0.5 s: that is the limit.');
    hand.become({ intervalSeconds: 60 });
    hand.press('+');
    expect(hand.said()).toContain('stays at 60 s');
    hand.become({ intervalSeconds: 4 });
    hand.press('+');
    expect(hand.asked.at(-1)).toBe('interval 5');
  });

  test('enter opens and closes the detail; Esc closes one thing at a time', () => {
    const hand = handOn();
    const open = () => {
      const { detail, focus, filter } = hand.store.view;
      return [detail, focus, filter];
    };
    hand.press('enter');
    expect(open()[0]).toBe(true);
    hand.press('enter');
    expect(open()[0]).toBe(false);
    hand.press('/', 'p', 'enter', 'tab');
    hand.dispatch({ type: 'detail', open: true });
    hand.press('escape');
    expect(open()).toEqual([false, 'findings', 'p']);
    hand.press('escape');
    expect(open()).toEqual([false, 'tree', 'p']);
    hand.press('escape');
    expect(open()).toEqual([false, 'tree', '']);
    hand.press('escape');
    expect([open(), hand.asked]).toEqual([[false, 'tree', ''], []]);
  });
});

describe('o', () => {
  test('goes to the pane of the selected process and says what happened', async () => {
    const hand = handOn();
    hand.press(...times(6, 'j'), 'o');
    expect(hand.asked).toEqual([`jump ${JSON.stringify(id(30))}`]);
    await hand.answered();
    expect([hand.said(), hand.tone()]).toEqual(['Jumped.', 'plain']);
  });

  test('says why it could not, and goes nowhere without a pane', async () => {
    const hand = handOn({ answers: { jump: fails('no server') } });
    hand.press('G', 'o');
    expect(hand.said()).toContain('not in a tmux pane');
    hand.press('k', 'k', 'o');
    await hand.answered();
    expect([hand.said(), hand.tone()]).toEqual(['no server', 'bad']);
  });
});

describe('time', () => {
  const moment = { at: 0, note: null, marks: [] };

  test('is stepped through both ways, by pictures and by marks; a frozen view is let go', async () => {
    const hand = handOn({ state: { moment } });
    hand.press('p', '[');
    expect(hand.store.view.frozen).toBeNull();
    hand.press(']', '{', '}');
    await hand.answered();
    expect(hand.asked).toEqual(['travel back', 'travel forward', 'travel mark-back', 'travel mark-forward']);
    expect(hand.said()).toBeNull();
  });

  test('shows a notice when a step is impossible, fails or is not recorded', async () => {
    const told = async (answers: object) => {
      const hand = handOn({ answers });
      hand.press('[');
      await hand.answered();
      return [hand.said(), hand.tone()];
    };
    expect(await told({ travel: async () => 'It begins here.' })).toEqual(['It begins here.', 'warn']);
    expect(await told({ travel: fails('torn') })).toEqual(['torn', 'bad']);
    expect(await told({ travel: () => Promise.reject('a word') })).toEqual(['a word', 'bad']);
    expect(await told({ travel: undefined })).toEqual(['There is no recording of this.', 'warn']);
    const now = handOn();
    now.press(']');
    expect([now.said(), now.asked]).toEqual(['Already live. Press [ to go back.', []]);
  });
});

describe('sheets', () => {
  const scrolled = (hand: Hand, ...keys: string[]): number => {
    hand.press(...keys);
    return hand.store.view.overlayScroll;
  };

  test('help scrolls by lines and pages to its end, and any other key leaves it', () => {
    const hand = handOn();
    hand.press('?');
    const most = helpContent(100, false).length - 26;
    expect([scrolled(hand, 'j'), scrolled(hand, 'k'), scrolled(hand, 'up')]).toEqual([1, 0, 0]);
    expect([scrolled(hand, 'pagedown'), scrolled(hand, 'pageup')]).toEqual([25, 0]);
    expect(scrolled(hand, ...times(20, 'space'))).toBe(most);
    hand.press('x');
    expect([hand.store.view.overlay, hand.asked]).toEqual([null, []]);
  });

  test('an entry of the log scrolls as far as it is long', () => {
    const rows = Array.from({ length: 40 }, (_, n) => ({
      what: 'ended',
      pid: n,
      name: 'x',
      bytes: 0,
      why: 'y',
    }));
    const line: LogLine = {
      at: 1,
      text: 't',
      tone: 'good',
      entry: { by: 'clean', why: 'w', rows, note: null },
    };
    const hand = handOn({ state: { log: [line] } });
    hand.press('shift-tab', 'enter');
    const most = entryContent(line, 100).length - 26;
    expect([scrolled(hand, 'j'), scrolled(hand, 'k')]).toEqual([1, 0]);
    expect(scrolled(hand, ...times(90, 'down'))).toBe(most);
    expect(most).toBeGreaterThan(5);
  });

  test('one that fits does not scroll', () => {
    const line: LogLine = {
      at: 1,
      text: 't',
      tone: 'good',
      entry: { by: 'c', why: '', rows: [], note: null },
    };
    const hand = handOn({ state: { log: [line] } });
    expect(scrolled(hand, 'shift-tab', 'enter', 'j', 'j')).toBe(0);
  });
});

describe('sessions that sleep', () => {
  const session = {
    agent: 'claude',
    id: 'a1',
    project: 'proofs',
    name: null,
    cwd: '/w',
    bytes: 300 * 1024 ** 2,
    state: 'asleep',
    at: 0,
    resume: 'claude --resume a1',
  } as never;

  test('stand at the end of level 1, and enter wakes them', async () => {
    const woken: unknown[] = [];
    const wake = async (one: unknown) => {
      woken.push(one);
      return 'Typed into its pane.';
    };
    const hand = handOn({ state: { asleep: [session] }, answers: { wake } });
    expect(hand.shown()).not.toContain('claude proofs');
    hand.press('1', 'G');
    expect(hand.selected()).toBe('claude proofs');
    hand.press('x');
    expect(hand.said()).toContain('Nothing to act on');
    hand.press('enter');
    await hand.answered();
    expect([woken, hand.said()]).toEqual([[session], 'Typed into its pane.']);
    hand.press('/', 'z');
    expect(hand.shown()).not.toContain('claude proofs');
  });
});

describe('any key', () => {
  test('without a meaning shows a notice, once', () => {
    const hand = handOn();
    hand.press('b');
    expect(hand.said()).toBe('b does nothing here; ? shows the keys.');
    hand.press('f7');
    expect(hand.said()).toBe('F7 does nothing here; ? shows the keys.');
    hand.press('b');
    expect(hand.said()).toBeNull();
  });

  test('Ctrl-C and Ctrl-Z work wherever we are', () => {
    const hand = handOn();
    hand.press('/', 'ctrl-c', 'ctrl-z', 'escape', '?', 'ctrl-c');
    expect(hand.asked).toEqual(['quit 130', 'suspend', 'quit 130']);
  });

  test('clears what was said; what no hand pressed does not', () => {
    const hand = handOn();
    hand.press('n');
    expect(hand.said()).toBe('No findings, and no session waits for you.');
    hand.press('unknown', 'reply');
    expect(hand.said()).toBe('No findings, and no session waits for you.');
    hand.press('f9');
    expect(hand.said()).toBeNull();
  });

  test('pasted text is not read as keys', () => {
    const hand = handOn();
    hand.paste('q');
    expect([hand.said()?.slice(0, 33), hand.asked]).toEqual(['Pasted text is not read as keys. ', []]);
  });

  test('that is unavailable now shows why and does nothing', () => {
    const hand = handOn({ state: { readOnly: 'A recorded table is read-only.' } });
    hand.press('j', 'x');
    expect([hand.said(), hand.asked]).toEqual(['A recorded table is read-only.', []]);
  });

  test('other than y closes a plan; y closes a plan that would do nothing', () => {
    const overlay = (steps: readonly number[]) =>
      ({
        kind: 'plan',
        request: { act: 'clean' },
        plan: planOf(steps.map(pid => ({ pid, start: 's' }))),
        openedIn: 0,
        typed: '',
        confirmed: [],
      }) as const;
    for (const [steps, key] of [
      [[20], 'n'],
      [[20], '7'],
      [[], 'y'],
    ] as const) {
      const hand = handOn();
      hand.dispatch({ type: 'overlay', overlay: overlay(steps) });
      hand.press(key);
      expect([hand.store.view.overlay, hand.said(), hand.asked]).toEqual([null, null, []]);
    }
  });

  test('leaves a plan that is still being made', () => {
    const hand = handOn();
    hand.press('j', 'x');
    expect(hand.store.view.overlay?.kind).toBe('planning');
    hand.press('n');
    expect(hand.store.view.overlay).toBeNull();
  });

  test('that is a digit goes into the pid that a plan asks for', () => {
    const hand = handOn();
    const plan = planOf([{ pid: 20, start: 's20', confirm: true }]);
    hand.dispatch({
      type: 'overlay',
      overlay: { kind: 'plan', request: { act: 'clean' }, plan, openedIn: 0, typed: '', confirmed: [] },
    });
    hand.press('2');
    expect(hand.store.view.overlay).toMatchObject({ typed: '2', confirmed: [] });
    hand.press('0', 'y');
    expect(hand.asked.map(line => line.split(' ')[0])).toEqual(['run']);
  });

  test.each(['help', 'signals', 'export'] as const)('that %s has no use for leaves it', kind => {
    const hand = handOn();
    hand.press('j', { help: '?', signals: 'S', export: 'e' }[kind]);
    expect(hand.store.view.overlay?.kind).toBe(kind);
    hand.press('n');
    expect([hand.store.view.overlay, hand.asked]).toEqual([null, []]);
  });
});

describe('q', () => {
  const plan = planOf([{ pid: 20, start: 's' }]);
  const running = { plan, outcomes: [], done: false, summary: null };

  test('quits', () => {
    const hand = handOn({ state: { running: { ...running, done: true } } });
    hand.press('q');
    expect(hand.asked).toEqual(['quit 0']);
  });

  test('asks once for each plan that it would cut short', () => {
    const hand = handOn({ state: { running } });
    hand.press('q');
    expect([hand.asked, hand.said()?.slice(0, 26)]).toEqual([[], 'A plan is still running: q']);
    hand.become({ running: { ...running, plan: { ...plan } } });
    hand.press('q');
    expect(hand.asked).toEqual([]);
    hand.press('q');
    expect(hand.asked).toEqual(['quit 0']);
  });
});
