import { expect, test } from 'vitest';
import type { LiveState, LogLine } from '../../src/engine/live-state.ts';
import { LiveStore } from '../../src/engine/live-store.ts';
import type { Outcome } from '../../src/model/plan.ts';
import { planOf } from '../act/fake-system.ts';

const line = (at: number): LogLine => ({ at, text: `${at}`, tone: 'plain' });
const outcome = (pid: number, what: Outcome['outcome']): Outcome => ({
  pid,
  start: 's',
  name: 'x',
  outcome: what,
  why: '',
  freed: 0,
});
const storeOf = (part: Partial<LiveState> = {}): LiveStore =>
  new LiveStore({ log: [], running: null, error: 'old', ...part } as unknown as LiveState);

test('notifies subscribers of each change until they unsubscribe and keeps the rest', () => {
  const store = storeOf();
  let told = 0;
  const leave = store.subscribe(() => (told += 1));
  store.set({ slowedDown: true });
  expect([told, store.state.slowedDown, store.state.error]).toEqual([1, true, 'old']);
  leave();
  store.set({ slowedDown: false });
  expect([told, store.state.slowedDown]).toEqual([1, false]);
});

test('the last two hundred lines are kept; no line is no change', () => {
  const store = storeOf({ log: [line(0)] });
  let told = 0;
  store.subscribe(() => (told += 1));
  store.log();
  expect(told).toBe(0);
  store.log(...Array.from({ length: 200 }, (_, n) => line(n + 1)));
  expect(store.state.log.map(({ at }) => at)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
});

test('a later outcome of an identity replaces the earlier, and no other', () => {
  const running = {
    plan: planOf([]),
    outcomes: [outcome(1, 'survived'), outcome(2, 'ended')],
    done: false,
    summary: null,
  };
  const store = storeOf({ running });
  store.note(outcome(1, 'killed'));
  expect(store.state.running?.outcomes).toEqual([outcome(2, 'ended'), outcome(1, 'killed')]);
});

test('an outcome of nothing that runs is no change', () => {
  const store = storeOf();
  store.note(outcome(1, 'ended'));
  expect(store.state.running).toBeNull();
});
