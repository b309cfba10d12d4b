import { describe, expect, test } from 'vitest';
import type { LogLine } from '../../../src/engine/live-state.ts';
import type { Finding } from '../../../src/model/finding.ts';
import type { Heartbeat } from '../../../src/model/heartbeat.ts';
import { id, invent } from '../../judge/plan/machine.ts';
import { type Hand, type HandOptions, handOn } from '../hand.ts';

const finding = (title: string, pids: readonly number[], more: Partial<Finding> = {}): Finding => ({
  id: 'leak',
  severity: 'warn',
  title,
  why: '',
  processes: pids.map(id),
  files: pids.length === 0 ? [`/${title}`] : [],
  remedy: '',
  action: null,
  ...more,
});
const withFindings = (...findings: Finding[]): HandOptions => ({ snapshot: { findings } });
const times = (n: number, key: string): string[] => Array.from({ length: n }, () => key);

describe('in the tree', () => {
  test('up and down go row by row and stop at both ends', () => {
    const hand = handOn();
    expect(hand.selected()).toBe('session ended');
    hand.press('up');
    expect(hand.selected()).toBe('session ended');
    hand.press('down', 'j', 'k');
    expect(hand.selected()).toBe(20);
    hand.press('G');
    expect(hand.selected()).toBe(40);
    hand.press('j');
    expect(hand.selected()).toBe(40);
    hand.press('g');
    expect(hand.selected()).toBe('session ended');
  });

  test('a page is what is seen but for one row', () => {
    const hand = handOn({ columns: 80, rows: 12 });
    const at = (...keys: string[]) => {
      hand.press(...keys);
      return hand.store.view.selectedIndex;
    };
    expect([at('pagedown'), at('ctrl-f'), at('pageup')]).toEqual([7, 9, 2]);
    // The detail takes the place of the tree: then its rows are the page.
    expect([at('g', 'enter', 'pagedown')]).toEqual([8]);
  });

  test('left folds, then goes to the parent; right unfolds, then goes to the first child', () => {
    const hand = handOn();
    hand.press('j', 'j', 'left');
    expect(hand.shown().slice(0, 4)).toEqual(['session ended', 20, 21, 23]);
    hand.press('h');
    expect(hand.selected()).toBe(20);
    hand.press('j', 'right');
    expect([hand.selected(), hand.shown()[3]]).toEqual([21, 22]);
    hand.press('l');
    expect(hand.selected()).toBe(22);
    hand.press('l');
    expect(hand.selected()).toBe(22);
    hand.press('h', 'h', 'h', 'h', 'h', 'h');
    expect([hand.selected(), hand.shown().slice(0, 2)]).toEqual([
      'session ended',
      ['session ended', 'tmux main'],
    ]);
  });

  test('H and L go a level up and down, and the selection stays on what it was on, or on what holds it', () => {
    const hand = handOn();
    hand.press('j', 'j', 'j');
    expect([hand.selected(), hand.store.view.level]).toEqual([22, 3]);
    hand.press('H');
    expect([hand.selected(), hand.said()]).toEqual([
      'session ended',
      'Sessions with their servers, shells and builds.',
    ]);
    expect(hand.shown()).toEqual(['session ended', 'tmux main', 30, 31, 'outside tmux', 40]);
    hand.press('H', 'H', 'H');
    expect(hand.store.view.level).toBe(1);
    hand.press('L', 'L', 'L');
    expect([hand.store.view.level, hand.selected(), hand.shown().length]).toEqual([3, 'session ended', 10]);
  });

  test('1, 2 and 3 choose a level; the same again closes and opens as the level has it', () => {
    const hand = handOn();
    hand.press('2', 'right');
    expect(hand.shown().slice(0, 3)).toEqual(['session ended', 20, 'tmux main']);
    hand.press('2');
    expect(hand.shown().slice(0, 2)).toEqual(['session ended', 'tmux main']);
    hand.press('1');
    expect(hand.shown()).toEqual(['session ended', 30]);
    hand.press('M', '3');
    expect([hand.store.view.grouping, hand.shown().length]).toEqual(['tmux', 10]);
  });

  test('Esc leaves the list that M, P, T or a column made, for the view before it', () => {
    const hand = handOn();
    hand.press('2', 's', 'M', 'P');
    expect([hand.store.view.grouping, hand.store.view.sort]).toEqual(['flat', 'cpu']);
    hand.press('escape');
    expect([hand.store.view.grouping, hand.store.view.sort, hand.store.view.level]).toEqual([
      'tmux',
      'memory',
      2,
    ]);
  });

  test('x on a row that stands for what a session left is about all of it', () => {
    const hand = handOn();
    hand.press('2', 'x');
    expect(hand.asked.at(-1)).toContain('"targets":[{"pid":20');
  });

  test('J and K scroll the detail, and no further than it goes', () => {
    const hand = handOn({ columns: 80, rows: 8 });
    hand.press('j', 'enter');
    const { store } = hand;
    // `J K scroll, 5 of 21 ▼`
    const [, last, length] = /J K scroll, (\d+) of (\d+)/.exec(hand.lines().join('\n'))!;
    const most = Number(length) - Number(last);
    expect(most).toBeGreaterThan(4);
    hand.press('J');
    expect(store.view.detailScroll).toBe(3);
    hand.press(...times(40, 'J'));
    expect(store.view.detailScroll).toBe(most);
    hand.press('K');
    expect(store.view.detailScroll).toBe(most - 3);
    hand.press(...times(40, 'K'));
    expect(store.view.detailScroll).toBe(0);
  });
});

describe('in a panel', () => {
  const many = Array.from({ length: 9 }, (_, n) => finding(`f${n}`, [20]));
  const cursor = (hand: Hand, ...keys: string[]): number => {
    hand.press(...keys);
    return hand.store.view.panelCursor;
  };

  test('the keys move its cursor and not the selection', () => {
    const hand = handOn(withFindings(...many));
    expect([cursor(hand, 'tab'), cursor(hand, 'j', 'j', 'k'), cursor(hand, 'up', 'up')]).toEqual([0, 1, 0]);
    // Nine rows of the panel: a page is eight.
    expect([cursor(hand, 'pagedown'), cursor(hand, 'pagedown'), cursor(hand, 'pageup')]).toEqual([8, 8, 0]);
    expect([cursor(hand, 'end'), cursor(hand, 'j'), cursor(hand, 'home')]).toEqual([8, 8, 0]);
    expect(hand.selected()).toBe('session ended');
    expect(cursor(handOn(), 'tab', 'j')).toBe(0);
    expect(cursor(handOn({ ...withFindings(...many), columns: 40, rows: 10 }), 'tab', 'pagedown')).toBe(6);
  });

  test('the entry after one that is over is the next', () => {
    const all = [20, 21, 22, 23, 30].map(pid => finding(`of ${pid}`, [pid]));
    const lost = (...keys: string[]): Hand => {
      const hand = handOn(withFindings(...all));
      hand.press('tab', 'j');
      const findings = all.filter((_, n) => n !== 1);
      hand.become({ snapshot: { ...hand.store.snapshot, findings } });
      expect(hand.store.view).toMatchObject({ panelCursor: 1, panelLost: all[1] });
      hand.press(...keys);
      return hand;
    };
    expect(lost('j').store.view).toMatchObject({ panelCursor: 1, panelLost: null });
    expect(lost('k').store.view).toMatchObject({ panelCursor: 0, panelLost: null });
  });

  test('tab goes round and closes the detail', () => {
    const hand = handOn();
    const focus = (key: string) => {
      hand.press(key);
      return hand.store.view.focus;
    };
    hand.press('enter');
    expect(hand.store.view.detail).toBe(true);
    expect(times(4, 'tab').map(focus)).toEqual(['findings', 'heartbeats', 'log', 'tree']);
    expect(hand.store.view.detail).toBe(false);
    expect(times(4, 'shift-tab').map(focus)).toEqual(['log', 'heartbeats', 'findings', 'tree']);
  });

  test('enter goes to the process of a finding or a heartbeat, and says where there is none', () => {
    const heartbeats = [
      { path: '/a', format: 'agent-progress', state: 'fine', ageSeconds: 1, agent: id(31) },
      { path: '/b', format: 'agent-progress', state: 'fine', ageSeconds: 1, agent: null },
    ] as Heartbeat[];
    const hand = handOn({
      snapshot: { findings: [finding('a', [22]), finding('b', []), finding('c', [99])], heartbeats },
    });
    hand.press('H', 'tab', 'enter');
    expect([hand.selected(), hand.store.view.focus, hand.said()]).toEqual([22, 'tree', null]);
    hand.press('tab', 'j', 'enter');
    expect([hand.said(), hand.store.view.focus]).toEqual([
      'No process of this entry is running.',
      'findings',
    ]);
    hand.press('j', 'enter');
    expect(hand.said()).toBe('That process is gone, or hidden: a shows all.');
    hand.press('tab', 'tab', 'enter');
    expect(hand.selected()).toBe(31);
    hand.press('tab', 'tab', 'j', 'enter');
    expect(hand.said()).toBe('No process of this entry is running.');
  });

  test('enter in the log opens an act, goes to what a line is about, or says that it is about nothing', () => {
    const entry = { by: 'clean', why: '', rows: [], note: null };
    const log: LogLine[] = [
      { at: 1, text: 'nothing', tone: 'plain' },
      { at: 2, text: 'found', tone: 'warn', about: id(23) },
      { at: 3, text: 'done', tone: 'good', entry, about: id(23) },
    ];
    const hand = handOn({ state: { log } });
    hand.press('shift-tab', 'enter');
    expect(hand.store.view.overlay).toEqual({ kind: 'entry', line: log[2] });
    hand.press('x');
    expect([hand.store.view.overlay, hand.asked]).toEqual([null, []]);
    hand.press('j', 'enter');
    expect([hand.selected(), hand.store.view.focus]).toEqual([23, 'tree']);
    hand.press('shift-tab', 'j', 'j', 'enter');
    expect(hand.said()).toBe('No process of this entry is running.');
  });
});

describe('n and N', () => {
  const here = (hand: Hand, key: string) => {
    hand.press(key);
    return [hand.selected(), hand.said()];
  };

  test('go round the findings of processes, unfolding and unfiltering on the way', () => {
    const hand = handOn(
      withFindings(finding('file', []), finding('a', [22]), finding('b', [31], { severity: 'critical' })),
    );
    hand.press('H');
    expect(here(hand, 'n')).toEqual([22, 'warn: a']);
    expect(hand.store.view.panelCursor).toBe(1);
    expect(here(hand, 'n')).toEqual([31, 'critical: b']);
    expect(here(hand, 'n')).toEqual([22, 'warn: a']);
    expect(here(hand, 'N')).toEqual([31, 'critical: b']);
    hand.press('/', 'p', '2', '2', 'enter');
    expect([hand.selected(), hand.store.view.filter]).toEqual([22, 'p22']);
    expect(here(hand, 'n')).toEqual([31, 'critical: b']);
    expect(hand.store.view.filter).toBe('');
    hand.press('/', 'p', 'enter', 'n');
    expect([hand.selected(), hand.store.view.filter]).toEqual([22, 'p']);
  });

  test('begin at the first, or backwards at the last', () => {
    const two = withFindings(finding('a', [22]), finding('b', [31]));
    expect(here(handOn(two), 'n')).toEqual([22, 'warn: a']);
    expect(here(handOn(two), 'N')).toEqual([31, 'warn: b']);
  });

  test('tell two findings of one process apart', () => {
    const hand = handOn(
      withFindings(finding('a', [20]), finding('b', [20], { id: 'zombie' }), finding('c', [30])),
    );
    expect(times(4, 'n').map(key => here(hand, key)[1])).toEqual([
      'warn: a',
      'warn: b',
      'warn: c',
      'warn: a',
    ]);
    hand.press('tab', 'j');
    expect(here(hand, 'n')).toEqual([30, 'warn: c']);
  });

  test('go on from a finding of which the selected process is only one', () => {
    const hand = handOn(withFindings(finding('a', [20]), finding('b', [21, 23]), finding('c', [40])));
    hand.press('j', 'j', 'j', 'j');
    expect([hand.selected(), here(hand, 'n')]).toEqual([23, [40, 'warn: c']]);
  });

  test('leave the cursor of another panel where it is', () => {
    const hand = handOn(withFindings(finding('a', [20]), finding('b', [30])));
    hand.press('tab', 'tab', 'escape', 'N');
    expect([hand.selected(), hand.store.view.panelCursor]).toEqual([30, 0]);
  });

  test('say where there is nothing to go to', () => {
    expect(here(handOn(withFindings(finding('f', []))), 'n')[1]).toContain('files only');
    expect(here(handOn(withFindings(finding('f', [99]))), 'n')[1]).toContain('gone, or hidden');
    expect(here(handOn(), 'n')[1]).toBe('No findings, and no session waits for you.');
  });
});

describe('w', () => {
  const waiting = (pid: number, project: string) =>
    invent(pid, 1, {
      kind: 'agent',
      verdict: 'live',
      session: { id: null, project, name: null, doing: 'waiting', waitingFor: null, seconds: 60 },
    });
  const hand = (): Hand =>
    handOn({
      snapshot: { processes: [waiting(50, 'a'), invent(51, 1, { verdict: 'live' }), waiting(52, 'b')] },
    });

  test('goes round the sessions that wait, unfolding on the way, and says what each waits for', () => {
    const shown = hand();
    expect(shown.selected()).toBe(50);
    shown.press('1', 'w');
    expect([shown.selected(), shown.said()]).toEqual([52, 'b: waits for you 1m']);
    shown.press('w');
    expect([shown.selected(), shown.said()]).toEqual([50, 'a: waits for you 1m']);
    shown.press('3', 'G', 'w');
    expect(shown.selected()).toBe(50);
  });

  test('n stops at them, too, before any finding', () => {
    const findings = [finding('leak', [51])];
    const shown = handOn({ snapshot: { processes: [waiting(50, 'a'), invent(51, 1)], findings } });
    shown.press('n');
    expect([shown.selected(), shown.said(), shown.tone()]).toEqual([51, 'warn: leak', 'warn']);
    shown.press('n');
    expect([shown.selected(), shown.said(), shown.tone()]).toEqual([50, 'a: waits for you 1m', 'plain']);
  });

  test('without one says so', () => {
    const shown = handOn();
    shown.press('w');
    expect(shown.said()).toBe('No session waits for you.');
  });
});

describe('A', () => {
  test('acknowledges the finding of the row, and says what was answered', () => {
    const asked: unknown[] = [];
    const leak = finding('leak', [20]);
    const acknowledge = (one: Finding): string => {
      asked.push(one);
      return 'Quiet until it changes.';
    };
    const hand = handOn({ ...withFindings(leak), answers: { acknowledge } });
    hand.press('j', 'A');
    expect([asked, hand.said()]).toEqual([[leak], 'Quiet until it changes.']);
    const without = handOn(withFindings(leak));
    without.press('j', 'A');
    expect(without.said()).toBe('Nothing can be acknowledged here.');
  });

  test('in the log takes back what was acknowledged, and nothing else', () => {
    const taken: unknown[] = [];
    const line = (more: object) => ({ at: 0, text: 'x', tone: 'plain', ...more }) as unknown as LogLine;
    const takeBack = (key: unknown): string => {
      taken.push(key);
      return 'It is a finding again.';
    };
    const hand = handOn({ state: { log: [line({ acknowledged: 'leak 20' })] }, answers: { takeBack } });
    hand.press('tab', 'tab', 'tab', 'tab');
    while (hand.store.view.focus !== 'log') hand.press('tab');
    hand.press('A');
    expect([taken, hand.said()]).toEqual([['leak 20'], 'It is a finding again.']);
    hand.become({ log: [line({})] });
    hand.press('A');
    expect([taken.length, hand.said()]).toEqual([1, 'Only an acknowledged finding can be taken back.']);
  });
});
