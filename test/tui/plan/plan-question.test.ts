import { expect, test } from 'vitest';
import type { ChangedPlan } from '../../../src/engine/live-state.ts';
import { type ActRequest, EMPTY_PLAN, type Plan } from '../../../src/model/plan.ts';
import { Clicks } from '../../../src/tui/keys/reader.ts';
import { openPlan, showAgain } from '../../../src/tui/plan/plan-question.ts';
import { INITIAL_VIEW, reduce } from '../../../src/tui/state.ts';
import type { Store } from '../../../src/tui/store.ts';
import { awaited, until } from '../../support/until.ts';

const CLEAN: ActRequest = { act: 'clean' };

/** A screen without a screen, and an engine whose plan comes when the test says so. */
const ask = () => {
  const notices: string[] = [];
  const made = awaited<Plan>();
  const controls = {
    view: INITIAL_VIEW,
    chunk: 7,
    // Time stands still: whatever is clicked now comes at once.
    clicks: new Clicks(() => 10_000),
    live: { plan: () => made.promise },
    dispatch: (event: Parameters<typeof reduce>[1]) => {
      controls.view = reduce(controls.view, event);
    },
    notice: (text: string) => notices.push(text),
  };
  const store = controls as unknown as Store;
  const question = {
    open: (request: ActRequest) => openPlan(store, request),
    showAgain: (request: ActRequest, again: ChangedPlan) => showAgain(store, request, again),
  };
  question.open(CLEAN);
  return { controls, question, notices, ...made };
};

const leave = { type: 'overlay', overlay: null } as const;

test('a plan that comes is shown, may be answered by the next key, and by no click at once', async () => {
  const { controls, resolve } = ask();
  expect(controls.view.overlay).toMatchObject({ kind: 'planning', request: CLEAN });
  resolve(EMPTY_PLAN);
  await until('the plan', () => controls.view.overlay?.kind === 'plan');
  expect(controls.view.overlay).toMatchObject({ openedIn: Number.POSITIVE_INFINITY });
  await until('the plan to be seen', () => (controls.view.overlay as { openedIn?: number }).openedIn === 7);
  expect(controls.clicks.note({ what: 'press', column: 1, row: 1 }).hurried).toBe(true);
});

test('a plan that was left while it was made does not come up', async () => {
  const { controls, promise, resolve } = ask();
  controls.dispatch(leave);
  resolve(EMPTY_PLAN);
  await promise;
  expect(controls.view.overlay).toBeNull();
});

test('a plan that was left and asked for again is the one that was asked for last', async () => {
  const { controls, question, promise, resolve } = ask();
  controls.dispatch(leave);
  controls.live.plan = () => new Promise(() => {});
  question.open(CLEAN);
  resolve(EMPTY_PLAN);
  await promise;
  expect(controls.view.overlay?.kind).toBe('planning');
});

test('a plan that cannot be made says why, and takes away only its own waiting', async () => {
  for (const left of [false, true]) {
    const { controls, notices, promise, reject } = ask();
    const help = { type: 'overlay', overlay: { kind: 'help' } } as unknown as Parameters<typeof reduce>[1];
    if (left) controls.dispatch(help);
    reject(new Error('no table'));
    await promise.catch(() => {});
    expect(notices).toEqual(['The plan could not be made: no table']);
    expect(controls.view.overlay?.kind ?? null).toBe(left ? 'help' : null);
  }
});

test('a plan that got worse while it ran is shown again, with the reason; once left, the reason alone', async () => {
  for (const left of [false, true]) {
    const { controls, question, notices } = ask();
    const running = { type: 'overlay', overlay: { kind: 'running' } } as const;
    controls.dispatch(left ? leave : running);
    question.showAgain(CLEAN, { plan: EMPTY_PLAN, because: 'it is live now' });
    if (left) expect(controls.view.overlay).toBeNull();
    else expect(controls.view.overlay).toMatchObject({ kind: 'plan', changed: 'it is live now' });
    expect(notices).toEqual(left ? ['Nothing was signalled: it is live now'] : []);
  }
});

test('a plan may be answered only while it is the one that is shown', async () => {
  const { controls, question } = ask();
  const other = { ...EMPTY_PLAN };
  controls.dispatch({ type: 'overlay', overlay: { kind: 'running' } });
  question.showAgain(CLEAN, { plan: EMPTY_PLAN, because: 'first' });
  controls.dispatch({ type: 'overlay', overlay: { kind: 'running' } });
  question.showAgain(CLEAN, { plan: other, because: 'second' });
  controls.chunk = 8;
  const seen: unknown[] = [];
  const { dispatch } = controls;
  controls.dispatch = event => {
    if (event.type === 'overlay') seen.push(event.overlay);
    dispatch(event);
  };
  await until('the second to be seen', () => (controls.view.overlay as { openedIn?: number }).openedIn === 8);
  expect(seen).toMatchObject([{ plan: other, changed: 'second' }]);
});
