import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { REAL_CLOCK } from '../../src/act/clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Whether the wait is over. */
const waiting = (ms: number, signal?: AbortSignal) => {
  const state = { over: false };
  void REAL_CLOCK.wait(ms, signal).then(() => {
    state.over = true;
  });
  return state;
};

test('a wait is over when its time is, with and without a way to cancel it', async () => {
  const { signal } = new AbortController();
  const remove = vi.spyOn(signal, 'removeEventListener');
  const waits = [waiting(100), waiting(100, signal)];
  await vi.advanceTimersByTimeAsync(99);
  expect(waits.map(wait => wait.over)).toEqual([false, false]);
  await vi.advanceTimersByTimeAsync(1);
  expect(waits.map(wait => wait.over)).toEqual([true, true]);
  expect(remove).toHaveBeenCalledTimes(1);
});

test('a wait is over as soon as it is cancelled, and leaves no timer behind', async () => {
  const cancel = new AbortController();
  const wait = waiting(100, cancel.signal);
  cancel.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect([wait.over, vi.getTimerCount()]).toEqual([true, 0]);
  const late = waiting(100, cancel.signal);
  await vi.advanceTimersByTimeAsync(0);
  expect([late.over, vi.getTimerCount()]).toEqual([true, 0]);
});
