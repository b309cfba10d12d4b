import { expect, test } from 'vitest';
import { drive, standingDemo } from '../drive.ts';

/** How often the terminal was rung while the engine counted to two, one of them twice over. */
const rung = async (bell: boolean, before = 0): Promise<number> => {
  const demo = await standingDemo();
  let rings = before;
  const getState = () => ({ ...demo.live.getState(), rings });
  const driven = await drive(80, 24, { bell, demo, answering: () => ({ getState }) });
  for (rings of [1, 1, 2]) {
    await demo.tick(2);
    await driven.type('');
  }
  const bells = driven.terminal.stdout.writes.filter(text => text === '\u0007').length;
  await driven.close();
  return bells;
};

test('--bell rings once for each time there is news, and nobody rings without it', async () => {
  expect(await rung(true)).toBe(2);
  expect(await rung(false)).toBe(0);
});

test('news from before the first paint rings as well, once', async () => {
  expect(await rung(true, 1)).toBe(2);
  expect(await rung(false, 1)).toBe(0);
});
