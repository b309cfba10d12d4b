import { expect, test } from 'vitest';
import { Yielder } from '../../src/observe/time-slice.ts';

const workFor = (ms: number): void => {
  const end = process.hrtime.bigint() + BigInt(ms * 1e6);
  while (process.hrtime.bigint() < end);
};

test('short work costs no turn of the loop', () => {
  expect(new Yielder().maybeYield()).toBeNull();
});

test('long work lets in what waits, then counts again', async () => {
  const breath = new Yielder();
  let heard = false;
  setImmediate(() => {
    heard = true;
  });
  workFor(20);
  const turn = breath.maybeYield();
  expect(turn).not.toBeNull();
  expect(heard).toBe(false);
  await turn;
  expect(heard).toBe(true);
  expect(breath.maybeYield()).toBeNull();
});
