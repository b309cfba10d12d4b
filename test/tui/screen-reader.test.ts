import { expect, test } from 'vitest';
import { drive } from './drive.ts';

test('a screen reader hears the component that has the keys, and nothing that is drawn', async () => {
  const driven = await drive(120, 60, { screenReader: true });
  const said = (): string => driven.terminal.text();
  expect(said()).toContain('reaptop: 8 agents, 9 leaks, 3.0 GiB reclaimable');
  expect(said()).toContain('Row 1 of 53: zsh, shell, process 1215');
  expect(said()).toContain('critical: session 5b1e9c40: 5 leaked');

  await driven.press('down', 'signal', 'signals-down');
  expect(said()).toContain('(selected) SIGINT interrupt, as Ctrl-C does');
  expect(said()).not.toMatch(/selected\) SIGTERM|Row 2 of 53/);

  await driven.type('\u001b');
  await driven.press('setup', 'setup-down');
  expect(said()).toContain('(selected) refresh');
  expect(said()).not.toMatch(/[│├└▾▌]|DOING/);

  await driven.press('setup-leave', 'detail');
  expect(said()).toContain('Row 2 of 53: claude, agent, process 1501');
  expect(said()).toContain('Can I end it? Yes, with x. Clean-up never touches it.');

  await driven.press('next-panel', 'down');
  expect(said()).toContain('Finding 2 of 15: critical: session c0ffee12 (sphere-packing): 4 leaked');
  expect(said()).not.toContain('Row 2 of 53');

  await driven.press('clean');
  expect(said()).toContain('Clean what is proven leaked: 9 processes');
  expect(said()).toContain('Press y to run.');
  expect(said()).toContain('any other key cancels');
  await driven.close();
});
