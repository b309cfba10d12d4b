import { expect, test } from 'vitest';
import { drive } from './drive.ts';

test('which session waits for me: no key, in 60 columns too', async () => {
  const driven = await drive(60, 40);
  expect(driven.terminal.text()).toContain('1 waits for you');
  await driven.press('filter');
  await driven.type('1501');
  expect(driven.terminal.text()).toMatch(/1501 .*claude \S* *waits 12m/);
  await driven.close();
});

test('with room for it, its own name and what it waits for', async () => {
  const driven = await drive(160, 50);
  await driven.press('filter');
  await driven.type('1501');
  expect(driven.terminal.text()).toMatch(/1501 .*“density bound”: waits for you: permission/);
  await driven.close();
});
