import { expect, test } from 'vitest';
import { TimeSlice } from '../../src/observe/time-slice.ts';

const workFor = (ms: number): void => {
  const end = process.hrtime.bigint() + BigInt(ms * 1e6);
  while (process.hrtime.bigint() < end);
};

test('short work costs no turn of the loop', () => {
  expect(new TimeSlice().due()).toBeNull();
});

test('long work lets in what waits, then counts anew', async () => {
  const breath = new TimeSlice();
  let heard = false;
  setImmediate(() => {
    heard = true;
  });
  workFor(20);
  const turn = breath.due();
  expect(turn).not.toBeNull();
  expect(heard).toBe(false);
  await turn;
  expect(heard).toBe(true);
  expect(breath.due()).toBeNull();
});
