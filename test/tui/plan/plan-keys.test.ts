import { beforeEach, describe, expect, test } from 'vitest';
import type { ChangedPlan } from '../../../src/engine/live-state.ts';
import { keyOf } from '../../../src/model/identity.ts';
import type { ActRequest, Plan } from '../../../src/model/plan.ts';
import { SIGNALS } from '../../../src/model/plan-text.ts';
import type { JudgedProcess } from '../../../src/model/snapshot.ts';
import type { Keystroke } from '../../../src/tui/keys/reader.ts';
import { PLAN_KEYS, PLAN_SHEET_KEYS, RUNNING_KEYS, TYPED_PID } from '../../../src/tui/plan/plan-keys.ts';
import { INITIAL_VIEW, type Overlay, reduce, rowOptions, type ViewEvent } from '../../../src/tui/state.ts';
import type { Store } from '../../../src/tui/store.ts';
import type { Row } from '../../../src/tui/tree/row-order.ts';
import { treeRows } from '../../../src/tui/tree/rows.ts';
import { TREE_KEYS } from '../../../src/tui/tree/tree-keys.ts';
import { planOf } from '../../act/fake-system.ts';
import { invent, snapshotOf } from '../../judge/plan/machine.ts';
import { awaited } from '../../support/until.ts';
import { handOn } from '../hand.ts';
import { screenOf } from '../screen.ts';

const CLEAN: ActRequest = { act: 'clean' };
const step = (pid: number, confirm = false) => ({ pid, start: 's', confirm });
const PLAIN = planOf([step(10), step(11)]);
/** Each is protected, and asks for its own pid. */
const guarded = (...pids: number[]): Plan => ({
  ...planOf([]),
  steps: pids.map(pid => planOf([step(pid, true)]).steps[0]!),
});
const key = (chunk: number, text = 'y'): Keystroke => ({ text, chunk }) as Keystroke;

/** A screen without a screen, and an engine that notes what it is to run. */
const stage = () => {
  const made = awaited<ChangedPlan | null>();
  const told = {
    view: { ...INITIAL_VIEW },
    screen: screenOf(),
    layout: screenOf().layout,
    targets: [invent(10, 1), invent(11, 1)],
    keyContext: {} as Record<string, unknown>,
    ran: [] as unknown[],
    cancelled: 0,
    notices: [] as string[],
    planned: [] as ActRequest[],
    chunk: 0,
    clicks: { shown: () => {} },
    live: {
      plan: (request: ActRequest) => {
        told.planned.push(request);
        return new Promise(() => {});
      },
      run: (plan: Plan, request: ActRequest) => {
        told.ran.push([plan, request]);
        return made.promise;
      },
      cancel: () => (told.cancelled += 1),
    },
    dispatch: (event: ViewEvent) => {
      told.view = reduce(told.view, event);
    },
    notice: (text: string, tone?: string) =>
      void told.notices.push(tone === undefined ? text : `${tone}: ${text}`),
  };
  return { told, made };
};

let told: ReturnType<typeof stage>['told'];
let made: ReturnType<typeof stage>['made'];
beforeEach(() => {
  ({ told, made } = stage());
});
const ACTING = { ...TREE_KEYS, ...PLAN_KEYS, ...PLAN_SHEET_KEYS, ...RUNNING_KEYS };
const controls = (): Store => told as unknown as Store;
const act = (name: keyof typeof ACTING, stroke = key(9)): void => ACTING[name](controls(), stroke);
const show = (plan: Plan, part: Partial<Extract<Overlay, { kind: 'plan' }>> = {}): void => {
  const overlay: Overlay = {
    kind: 'plan',
    request: CLEAN,
    plan,
    openedIn: 7,
    typed: '',
    confirmed: [],
    ...part,
  };
  told.dispatch({ type: 'overlay', overlay });
};

describe('y', () => {
  test('runs the plan that is shown, once it can have been seen', () => {
    show(PLAIN);
    act('go', key(8));
    expect(told.ran).toEqual([[PLAIN, CLEAN]]);
    expect(told.view.overlay).toEqual({ kind: 'running' });
    expect(told.notices).toEqual([]);
  });

  test.each([6, 7])('that was typed before runs nothing (%s)', chunk => {
    show(PLAIN);
    act('go', key(chunk));
    expect(told.ran).toEqual([]);
    expect(told.view.overlay?.kind).toBe('plan');
    expect(told.notices).toEqual(['Too early: read the plan, then press y.']);
  });

  test('runs nothing while the plan is made, or where there is none', () => {
    act('go');
    told.dispatch({ type: 'overlay', overlay: { kind: 'planning', request: CLEAN } });
    act('go');
    expect(told.ran).toEqual([]);
    expect(told.view.overlay?.kind).toBe('planning');
  });

  test('leaves a plan that does nothing, however early', () => {
    show(planOf([]), { openedIn: 99 });
    act('go');
    expect([told.ran, told.view.overlay, told.notices]).toEqual([[], null, []]);
  });

  test('runs nothing while one protected pid of several is not typed, and says which', () => {
    show(guarded(20, 21), { confirmed: [20] });
    act('go');
    expect(told.ran).toEqual([]);
    expect(told.notices).toEqual(['Type 21 first: it is protected.']);
    show(guarded(20, 21), { confirmed: [20, 21] });
    act('go');
    expect(told.ran).toHaveLength(1);
  });

  test('shows the plan again, with what changed, when it got worse', async () => {
    const again = { plan: PLAIN, because: 'live now' };
    show(PLAIN);
    act('go');
    made.resolve(again);
    await made.promise;
    await Promise.resolve();
    expect(told.view.overlay).toMatchObject({
      kind: 'plan',
      request: CLEAN,
      plan: PLAIN,
      changed: 'live now',
    });
  });

  test('does not show the plan again when it went well', async () => {
    show(PLAIN);
    act('go');
    made.resolve(null);
    await made.promise;
    await Promise.resolve();
    expect([told.view.overlay, told.notices]).toEqual([{ kind: 'running' }, []]);
  });

  test.each([
    [new Error('no lock'), 'bad: It failed: no lock'],
    ['a word', 'bad: It failed: a word'],
  ])('that fails says why', async (why, said) => {
    show(PLAIN);
    act('go');
    made.reject(why as Error);
    await made.promise.catch(() => {});
    await Promise.resolve();
    expect(told.notices).toEqual([said]);
  });
});

describe('a pid that is typed', () => {
  /** False: the key was not taken for a digit, and left the plan. */
  const type = (text: string, chunk = 9): boolean => {
    TYPED_PID.otherwise!(controls(), key(chunk, text));
    return told.view.overlay?.kind === 'plan';
  };
  const overlay = () => told.view.overlay as Extract<Overlay, { kind: 'plan' }>;

  test('confirms its process and no other; a y from the same read does not count', () => {
    show(guarded(20, 21));
    expect([type('2'), type('0', 12)]).toEqual([true, true]);
    expect(overlay()).toMatchObject({ confirmed: [20], typed: '', openedIn: 12 });
    act('go', key(12));
    expect(told.ran).toEqual([]);
    type('2');
    type('1', 13);
    expect(overlay()).toMatchObject({ confirmed: [20, 21], openedIn: 13 });
  });

  test('another one is said to be wrong, its last ten digits at most; the right one is not', () => {
    show(guarded(20));
    type('2');
    expect(told.notices).toEqual([]);
    type('1');
    expect(told.notices).toEqual(['21 is not 20; Backspace erases, Esc cancels.']);
    for (const digit of '3456789012') type(digit);
    expect(told.notices.at(-1)).toBe('3456789012 is not 20; Backspace erases, Esc cancels.');
  });

  test('with Enter behind it asks for y, and before it for the pid; the plan stays', () => {
    const enter = (): void =>
      TYPED_PID.otherwise!(controls(), { key: 'enter', text: '', chunk: 9 } as Keystroke);
    show(guarded(20));
    enter();
    expect(told.notices).toEqual(['Type 20 to confirm, or press Esc to cancel.']);
    show(guarded(20), { confirmed: [20] });
    enter();
    expect(told.notices.at(-1)).toBe('Confirmed. Press y to run, Esc to cancel.');
    expect(told.view.overlay?.kind).toBe('plan');
  });

  test('is cancelled by any other key, which says so; a plan without one is left in silence', () => {
    show(guarded(20));
    type('n');
    expect([told.view.overlay, told.notices]).toEqual([null, ['Cancelled; nothing was signalled.']]);
    told.notices.length = 0;
    show(PLAIN);
    TYPED_PID.otherwise!(controls(), { key: 'enter', text: '', chunk: 9 } as Keystroke);
    expect([told.view.overlay, told.notices]).toEqual([null, []]);
    act('go');
    TYPED_PID.otherwise!(controls(), key(9, 'n'));
    expect(told.notices).toEqual([]);
  });

  test('another one, or a longer one, confirms nothing', () => {
    show(guarded(20));
    for (const digit of '120') type(digit);
    expect(overlay()).toMatchObject({ confirmed: [], typed: '120', openedIn: 7 });
    for (const digit of '1234567890') type(digit);
    expect(overlay().typed).toBe('1234567890');
  });

  test('is erased digit by digit', () => {
    show(guarded(20), { typed: '134' });
    act('plan-erase');
    expect(overlay().typed).toBe('13');
    told.dispatch({ type: 'overlay', overlay: null });
    act('plan-erase');
    expect(told.view.overlay).toBeNull();
  });

  test.each(['y', '', '12', 'a1', '1a'])('is no %j', text => {
    show(guarded(1));
    expect(type(text)).toBe(false);
  });

  test('is asked for by a plan with protected processes only', () => {
    expect(type('1')).toBe(false);
    show(PLAIN);
    expect(type('1')).toBe(false);
    show(guarded(20), { confirmed: [20] });
    expect(type('2')).toBe(false);
    told.dispatch({ type: 'overlay', overlay: { kind: 'running' } });
    expect(type('1')).toBe(false);
  });
});

describe('a key asks for a plan of its own', () => {
  const targets = [
    { pid: 10, start: 's10' },
    { pid: 11, start: 's11' },
  ];
  test.each<[keyof typeof ACTING, ActRequest]>([
    ['end-process', { act: 'end', targets, force: false }],
    ['kill', { act: 'end', targets, force: true }],
    ['clean', CLEAN],
    ['zombies', { act: 'zombies' }],
  ])('%s', (name, request) => {
    act(name);
    expect(told.planned).toEqual([request]);
    expect(told.ran).toEqual([]);
  });

  test('fix, where there is a finding', () => {
    act('fix');
    expect(told.planned).toEqual([]);
    const finding = { id: 'leak' };
    told.keyContext = { finding };
    act('fix');
    expect(told.planned).toEqual([{ act: 'fix', finding }]);
  });

  test('fix on an idle session without a finding that can be fixed puts it to sleep', () => {
    const asleep = { act: 'sleep', targets: [{ pid: 40, start: 's40' }], minimumIdleSeconds: 0 };
    const doing = (what: string) =>
      invent(40, 1, { kind: 'agent', session: { doing: what } as unknown as JudgedProcess['session'] });
    told.keyContext = { finding: null, row: { process: doing('idle') } };
    act('fix');
    told.keyContext = { finding: { id: 'idle-agent', action: null }, row: { process: doing('idle') } };
    act('fix');
    expect(told.planned).toEqual([asleep, asleep]);
    told.keyContext = { finding: { id: 'leak', action: 'end' }, row: { process: doing('idle') } };
    act('fix');
    told.keyContext = { finding: { id: 'too-many', action: null }, row: { process: doing('busy') } };
    act('fix');
    expect(told.planned.slice(2)).toEqual([
      { act: 'fix', finding: { id: 'leak', action: 'end' } },
      { act: 'fix', finding: { id: 'too-many', action: null } },
    ]);
    told.keyContext = { finding: null, row: { process: doing('busy') } };
    act('fix');
    told.keyContext = { finding: null, row: null };
    act('fix');
    expect(told.planned).toHaveLength(4);
  });

  test('to nudge only, of the same zombies; nothing where no plan is shown', () => {
    act('nudge-only');
    expect(told.planned).toEqual([]);
    show(PLAIN, { request: { act: 'zombies' } });
    act('nudge-only');
    const finding = { id: 'zombie', processes: [{ pid: 5, start: 's5' }] };
    show(PLAIN, { request: { act: 'fix', finding } as unknown as ActRequest });
    act('nudge-only');
    show(PLAIN);
    act('nudge-only');
    expect(told.planned).toEqual([
      { act: 'zombies', nudgeOnly: true },
      { act: 'zombies', targets: finding.processes, nudgeOnly: true },
      { act: 'zombies', targets: undefined, nudgeOnly: true },
    ]);
  });

  test('the other way to the same end, where there is one', () => {
    const finding = { id: 'call-hung' };
    const other = (request: unknown, otherWay?: Plan['otherWay']): unknown => {
      told.planned.length = 0;
      show({ ...PLAIN, otherWay }, { request: request as ActRequest });
      act('plan-other-way');
      return told.planned[0];
    };
    expect(other({ act: 'fix', finding }, 'interrupt')).toEqual({ act: 'fix', finding, way: 'interrupt' });
    expect(other({ act: 'fix', finding })).toBeUndefined();
    expect(other({ act: 'end', targets, force: true }, 'sleep')).toEqual({
      act: 'sleep',
      targets,
      minimumIdleSeconds: 0,
    });
    expect(other({ act: 'sleep', targets }, 'end')).toEqual({ act: 'end', targets, force: false });
    expect(other({ act: 'sleep' }, 'end')).toEqual({ act: 'end', targets: [], force: false });
    expect(other(CLEAN, 'end')).toBeUndefined();
    told.dispatch({ type: 'overlay', overlay: { kind: 'running' } });
    act('plan-other-way');
    expect(told.planned).toEqual([]);
  });

  test('the chosen signal; the choice goes round at both ends', () => {
    const hand = handOn();
    hand.press('j', 'S');
    expect(hand.store.view.overlay).toEqual({ kind: 'signals', cursor: 0 });
    hand.press('up');
    expect(hand.store.view.overlay).toEqual({ kind: 'signals', cursor: SIGNALS.length - 1 });
    hand.press('down', 'down', 'enter');
    expect(hand.asked).toEqual([
      `plan ${JSON.stringify({ act: 'signal', targets: [{ pid: 20, start: 's20' }], signal: SIGNALS[1]!.name })}`,
    ]);
  });
});

test('C sends nothing more, and says what that means', () => {
  act('stop');
  expect(told.cancelled).toBe(1);
  expect(told.notices[0]).toContain('No further signals');
});

test('what runs can be left', () => {
  told.dispatch({ type: 'overlay', overlay: { kind: 'running' } });
  act('running-leave');
  expect(told.view.overlay).toBeNull();
});

describe('a long plan scrolls', () => {
  const scrolled = (): number => told.view.overlayScroll;
  test('by a line, by a page, and not beyond either end', () => {
    show(planOf(Array.from({ length: 60 }, (_, n) => step(n + 10))));
    const screen = screenOf({ view: told.view });
    Object.assign(told, { screen, layout: screen.layout });
    act('plan-down');
    expect(scrolled()).toBe(1);
    act('plan-up');
    act('plan-up');
    expect(scrolled()).toBe(0);
    // 30 rows: 2 of the header and 1 of the footer; 4 around the content, and one line of the page before.
    act('plan-page-down');
    expect(scrolled()).toBe(22);
    act('plan-page-up');
    expect(scrolled()).toBe(0);
    for (let n = 0; n < 9; n += 1) act('plan-page-down');
    expect(scrolled()).toBe(60 - 23);
    act('running-up');
    expect(scrolled()).toBe(60 - 24);
    act('running-down');
    expect(scrolled()).toBe(60 - 23);
  });

  test('while it runs too, and what is no plan does not', () => {
    const plan = planOf(Array.from({ length: 60 }, (_, n) => step(n + 10)));
    told.dispatch({ type: 'overlay', overlay: { kind: 'running' } });
    const running = { plan, outcomes: [] };
    const state = { ...screenOf().state, running } as unknown as ReturnType<typeof screenOf>['state'];
    Object.assign(told, { screen: screenOf({ view: told.view, state }) });
    act('running-down');
    expect(scrolled()).toBe(1);
    for (const overlay of [null, { kind: 'help' }] as const) {
      told.dispatch({ type: 'overlay', overlay });
      Object.assign(told, { screen: screenOf({ view: told.view, state }) });
      act('running-down');
      expect(scrolled()).toBe(0);
    }
  });
});

describe('space', () => {
  const tmux = (session: string) =>
    ({ socket: '/t', session, pane: '%1', window: '0', title: '' }) as unknown as JudgedProcess['tmux'];
  const snapshot = snapshotOf([
    invent(20, 1, { kind: 'agent', verdict: 'live', tmux: tmux('a') }),
    invent(21, 20, { verdict: 'live', tmux: tmux('a') }),
    invent(22, 1, { verdict: 'live', tmux: tmux('a') }),
    invent(30, 1, { kind: 'agent', verdict: 'live', tmux: tmux('b') }),
  ]);
  const keyAt = (pid: number): string => keyOf({ pid, start: `s${pid}` });
  const at = (find: (row: Row) => boolean, folded: readonly string[] = []): void => {
    const view = { ...told.view, folded: new Set(folded) };
    const rows = treeRows(snapshot, rowOptions(view));
    const selectedIndex = rows.findIndex(find);
    told.view = { ...view, selectedIndex, selected: rows[selectedIndex]?.key ?? null };
    Object.assign(told, { rows, snapshot });
  };
  const headings = (): Row[] => treeRows(snapshot, rowOptions(told.view)).filter(row => !row.process);
  const marked = (): string[] => [...told.view.marked].sort();

  test('marks the process and goes on to the next row; again takes the mark away', () => {
    at(row => row.key === keyAt(20));
    act('mark');
    expect(marked()).toEqual([keyAt(20)]);
    expect(told.view.selected).toBe(keyAt(21));
    at(row => row.key === keyAt(20));
    act('mark');
    expect(marked()).toEqual([]);
  });

  test('on the last row stays there', () => {
    at(row => row.key === keyAt(30));
    act('mark');
    expect([marked(), told.view.selected]).toEqual([[keyAt(30)], keyAt(30)]);
  });

  test.each([false, true])(
    'on a heading marks what stands at its top, and nothing of the next (folded: %s)',
    folded => {
      const [first] = headings();
      at(row => row.key === first!.key, folded ? [first!.key, 'another'] : []);
      act('mark');
      expect(marked()).toEqual([keyAt(20), keyAt(22)]);
      expect(told.view.selected).toBe(first!.key);
    },
  );

  test('on what is gone, or on no row, marks nothing', () => {
    at(row => row.key === keyAt(20));
    Object.assign(told, {
      rows: treeRows(snapshot, rowOptions(told.view)).map(row => ({ ...row, gone: true })),
    });
    act('mark');
    at(() => false);
    act('mark');
    expect(marked()).toEqual([]);
  });

  test('and all marks go at once', () => {
    at(row => row.key === keyAt(20));
    act('mark');
    act('unmark-all');
    expect(marked()).toEqual([]);
  });
});
