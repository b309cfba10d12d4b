import { expect, test } from 'vitest';
import { demoLive } from '../../src/live/demo/demo.ts';
import { drive } from './drive.ts';

const rung = async (bell: boolean): Promise<number> => {
  const live = demoLive({ ticking: false });
  const state = { ...live.getState(), rings: 0 };
  const driven = await drive(80, 24, { bell, live: { ...live, getState: () => state } });
  for (const rings of [1, 1, 2]) {
    state.rings = rings;
    live.tick(2);
  }
  await driven.terminal.settled();
  const bells = driven.terminal.stdout.writes.filter(text => text === '\u0007').length;
  await driven.close();
  return bells;
};

test('--bell rings once for each time there is news, and nobody rings without it', async () => {
  expect(await rung(true)).toBe(2);
  expect(await rung(false)).toBe(0);
});
