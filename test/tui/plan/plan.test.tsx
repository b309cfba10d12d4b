import { describe, expect, test } from 'vitest';
import type { RunningPlan } from '../../../src/engine/live-state.ts';
import type { ActRequest, Outcome, Plan } from '../../../src/model/plan.ts';
import { PlanSheet, Running } from '../../../src/tui/plan/plan.tsx';
import type { Screen } from '../../../src/tui/screen.ts';
import { INITIAL_VIEW, type Overlay } from '../../../src/tui/state.ts';
import { planOf } from '../../act/fake-system.ts';
import { invent, snapshotOf } from '../../judge/plan/machine.ts';
import { handOn } from '../hand.ts';
import { painted } from '../mounted.tsx';
import { screenOf } from '../screen.ts';

const ROWS = 20;
/** Two rows of the header and one of the footer. */
const SCREEN_ROWS = ROWS + 3;
const CLEAN: ActRequest = { act: 'clean' };
const step = (pid: number, confirm = false) => ({ pid, start: `s${pid}`, confirm });

type PlanOverlay = Extract<Overlay, { kind: 'plan' }>;
const asked = (
  plan: Plan,
  part: Partial<PlanOverlay> = {},
  columns = 100,
  filter = '',
  rows = SCREEN_ROWS,
): Screen => {
  const question = { kind: 'plan', request: CLEAN, plan, openedIn: 0, typed: '', confirmed: [] } as const;
  const snapshot = snapshotOf([invent(10, 1, { name: 'lean p10' }), invent(11, 1)]);
  const view = { ...INITIAL_VIEW, filter, overlay: { ...question, ...part } };
  return screenOf({ view, snapshot }, columns, rows);
};
const shown = (screen: Screen): readonly string[] => painted(screen, <PlanSheet />);
const question = (plan: Plan, part: Partial<PlanOverlay> = {}, columns = 100): string =>
  shown(asked(plan, part, columns)).at(-1)!;
const TWO = planOf([step(10), step(11)]);

describe('the question under a plan', () => {
  test.each([
    [100, ' 2 processes: TERM, KILL after 5 s, children first. Press y to run.'],
    [60, ' TERM, KILL after 5 s, children first. Press y to run.'],
    [50, ' TERM, KILL after 5 s, children first. y runs it.'],
    [46, ' TERM, KILL after 5 s. y runs it.'],
    [20, ' y runs it.'],
  ])('says at %s columns as much as there is room for, and always how to go on', (columns, said) => {
    expect(question(TWO, {}, columns)).toBe(said);
  });

  test('counts a parent that is nudged and then ended as one process', () => {
    const plan = planOf([{ ...step(10), signal: 'SIGCHLD' }, step(10)]);
    expect(question(plan, {}, 120)).toContain(' 1 process: CHLD first; TERM, KILL after 5 s');
  });

  test('names the chosen signal alone', () => {
    const plan = planOf([{ ...step(10), signal: 'SIGTERM' }]);
    const request: ActRequest = { act: 'signal', targets: [], signal: 'SIGTERM' };
    expect(question(plan, { request })).toBe(' 1 process: TERM. Press y to run.');
  });

  test('tells files and sessions, and that no signal is sent, where that is all', () => {
    const plan: Plan = { ...planOf([]), otherSteps: [{ act: 'remove', target: '/p/lock', why: 'old' }] };
    expect(question(plan)).toBe(' 1 file: no process is signalled. Press y to run.');
  });

  test('offers no y where nothing would be done', () => {
    expect(question(planOf([]))).toBe(' Nothing would be signalled. Any key leaves.');
  });

  test('asks for each protected pid in turn, with what is typed, before it offers y', () => {
    const [a, b] = [planOf([step(20, true)]).steps[0]!, planOf([step(21, true)]).steps[0]!];
    const plan: Plan = { ...planOf([]), steps: [a, b] };
    expect(question(plan, { typed: '2' })).toMatch(/^ Protected\. Type its pid, 20, to confirm: 2\S$/);
    expect(question(plan, { confirmed: [20] })).toMatch(/^ Protected\. Type its pid, 21, to confirm: \S$/);
    expect(question(plan, { confirmed: [20, 21] })).toContain('Press y');
  });

  test.each([
    [46, /^ Protected\. Type its pid, 20, to confirm: /],
    [41, /^ Type its pid, 20, to confirm: /],
    [30, /^ Type 20: /],
  ])('at %s columns the whole pid fits behind what asks for it', (columns, said) => {
    expect(question(planOf([step(20, true)]), { typed: '20' }, columns)).toMatch(said);
    expect(question(planOf([step(20, true)]), { typed: '20' }, columns)).toContain('20');
  });
});

describe('a plan', () => {
  test('fills its rows: title, columns, steps, what is refused, a rule and the question', () => {
    const refused = [{ pid: 30, start: 's30', name: 'kept', why: 'hard-protected' }];
    const lines = shown(asked({ ...TWO, refused }));
    expect(lines).toHaveLength(ROWS);
    expect(lines[0]).toMatch(/^─ Clean what is proven leaked: 2 processes.*─$/);
    expect(lines[1]).toContain('SIGNAL');
    expect(lines[3]).toMatch(/TERM +LEAK +10 +p10/);
    expect(lines.join('\n')).toMatch(/30 kept: hard-protected/);
    expect(lines.at(-2)).toBe('─'.repeat(100));
  });

  test('that changed shows first what changed and that nothing was signalled', () => {
    const lines = shown(asked(TWO, { changed: 'p10 (10) is live now' }));
    expect(lines[2]).toBe('  Nothing was signalled: since you read this plan, p10 (10) is live now');
    expect(lines[3]).toBe('');
    expect(shown(asked(TWO)).join('\n')).not.toContain('Nothing was signalled');
  });

  const filtered = (filter: string, request: ActRequest): string =>
    shown(asked(TWO, { request }, 100, filter)).join('\n');
  test('for c shows how many processes the filter hides; other plans do not', () => {
    expect(filtered('lean', CLEAN)).toContain('  c cleans all 2 (1 hidden by the filter)\n\n');
    expect(filtered('', CLEAN)).not.toContain('hidden');
    expect(filtered('p1', CLEAN)).not.toContain('hidden');
    expect(filtered('lean', { act: 'end', targets: [], force: false })).not.toContain('hidden');
  });

  test('is nowhere while another overlay is shown', () => {
    expect(shown(screenOf())).toEqual([]);
    const help = screenOf({ view: { ...INITIAL_VIEW, overlay: { kind: 'help' } } });
    expect(shown(help)).toEqual([]);
  });

  test('says where in it we are when it is longer than its room', () => {
    const plan = planOf(Array.from({ length: 40 }, (_, n) => step(n + 10)));
    expect(shown(asked(plan))[0]).toMatch(/ 16 of 40 \S+ ─$/);
    const low = shown(asked(plan, {}, 100, '', 5));
    expect(low[2]).toMatch(/TERM +49 /);
    expect(low).toHaveLength(5);
  });
});

describe('a plan that runs', () => {
  const outcome: Outcome = { ...step(10), name: 'p10', outcome: 'ended', why: 'by TERM', freed: 5 };
  const running = (part: Partial<RunningPlan> | null): Screen => {
    const state = part && { plan: TWO, outcomes: [], done: false, summary: null, ...part };
    const view = { ...INITIAL_VIEW, overlay: { kind: 'running' } as const };
    return screenOf({ view, state: { running: state } as unknown as Screen['state'] }, 100, SCREEN_ROWS);
  };
  const lines = (part: Partial<RunningPlan> | null): readonly string[] => painted(running(part), <Running />);

  test('has not begun', () => expect(lines(null)[0]).toMatch(/^─ Starting ─/));

  test('says how many are through, what became of each, and how to stop it', () => {
    const told = lines({ outcomes: [outcome] });
    expect(told[0]).toMatch(/^─ Working: 1 of 2 ─/);
    expect(told[1]).toContain('OUTCOME');
    expect(told[3]).toMatch(/ended +10 +p10/);
    expect(told.at(-1)).toBe(' Waiting for them to end. C stops sending signals.');
  });

  test('ends with its summary', () => {
    const told = lines({ done: true, summary: '1 ended' });
    expect([told[0]!.slice(0, 7), told.at(-1)]).toEqual(['─ Done ', ' 1 ended']);
    expect(lines({ done: true }).at(-1)).toBe(' Done.');
  });

  test('tells what became of its files', () => {
    const chore = { act: 'remove', target: '/p/lock', why: 'old' } as const;
    const plan: Plan = { ...planOf([]), otherSteps: [chore] };
    const told = lines({ plan, otherOutcomes: [{ ...chore, outcome: 'failed' as const }] });
    expect(told.join('\n')).toMatch(/failed +\/p\/lock/);
    expect(lines({ plan }).join('\n')).not.toContain('failed');
  });

  test('scrolls no further than its rows', () => {
    const hand = handOn({
      state: { running: { plan: TWO, outcomes: [outcome], done: false, summary: null } },
    });
    hand.dispatch({ type: 'overlay', overlay: { kind: 'running' } });
    hand.press('down', 'down');
    expect(hand.store.view.overlayScroll).toBe(0);
    hand.become({ running: null });
    hand.press('down');
    expect(hand.store.view.overlayScroll).toBe(0);
  });
});
