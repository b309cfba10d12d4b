import { expect, test } from 'vitest';
import type { Live } from '../../../src/engine/live-state.ts';
import { PssReader } from '../../../src/tui/detail/pss-reader.ts';
import { invent } from '../../judge/plan/machine.ts';

/** A reader whose questions to the kernel are answered by hand; null: the process has ended. */
const reading = () => {
  const asked: number[] = [];
  const answers: ((bytes: number | null) => void)[] = [];
  let changes = 0;
  const live = {
    proportionalMemory: (pid: number) => {
      asked.push(pid);
      return new Promise<number>((resolve, reject) => {
        answers.push(bytes => (bytes === null ? reject(new Error('gone')) : resolve(bytes)));
      });
    },
  } as unknown as Live;
  const reader = new PssReader(live, () => {
    changes += 1;
  });
  const answer = (question: number, bytes: number | null): Promise<void> => {
    answers[question]!(bytes);
    return new Promise(setImmediate);
  };
  return { reader, asked, answer, changes: () => changes };
};
const [A, B] = [invent(20, 1), invent(30, 1)];

test('is asked for the selected process, and the screen is told when the answer is there', async () => {
  const { reader, asked, answer, changes } = reading();
  expect([reader.of('a'), reader.of(null)]).toEqual([null, null]);
  reader.want('a', A, 1000);
  expect([asked, reader.of('a'), changes()]).toEqual([[20], null, 0]);
  await answer(0, 7);
  expect([reader.of('a'), reader.of('b'), reader.of(null), changes()]).toEqual([7, null, null, 1]);
});

test('is read again after ten seconds and no sooner; the old figure stands until then', async () => {
  const { reader, asked, answer } = reading();
  reader.want('a', A, 1000);
  await answer(0, 7);
  reader.want('a', A, 10_999);
  expect(asked).toHaveLength(1);
  reader.want('a', A, 11_000);
  expect([asked.length, reader.of('a')]).toEqual([2, 7]);
  await answer(1, 8);
  expect(reader.of('a')).toBe(8);
  reader.want('a', A, 20_999);
  expect(asked).toHaveLength(2);
});

test('another selection is asked about at once, and a late answer is not taken for its own', async () => {
  const { reader, asked, answer } = reading();
  reader.want('a', A, 1000);
  reader.want('b', B, 1001);
  expect(asked).toEqual([20, 30]);
  await answer(0, 7);
  expect([reader.of('a'), reader.of('b')]).toEqual([null, null]);
  await answer(1, 9);
  expect([reader.of('a'), reader.of('b')]).toEqual([null, 9]);
  reader.want('a', A, 1002);
  expect([reader.of('a'), asked.length]).toEqual([null, 3]);
});

test('reads no figure and no error for a process that ended', async () => {
  const { reader, answer, changes } = reading();
  reader.want('a', A, 1000);
  await answer(0, null);
  expect([reader.of('a'), changes()]).toEqual([null, 0]);
});
