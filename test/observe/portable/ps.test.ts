import { expect, test } from 'vitest';
import { parsePs, readUsage } from '../../../src/observe/portable/ps.ts';

test('reads Linux and macOS rows, and skips what is none', () => {
  const rows = parsePs(`    1     0     1     1 ?        Ss       0    0 12345 Fri Feb  6 12:52:44 2026
 536   1   536      0 ttys003  S+     0  501   2048 Mon Nov 16 03:05:39 2026
 537   1   537 ffffa0 ??       Ss      -2   -2   2048 Mon Nov 16 03:05:39 2026
nonsense
 538   1   538 0 ??       Ss      -2   -2   2048 Mon Nov 36 99:05:39 2026
`);
  expect(rows).toMatchObject([
    { pid: 1, ppid: 0, pgid: 1, tty: '?', stat: 'Ss', uid: 0, rss: 12345 * 1024 },
    {
      pid: 536,
      sid: null,
      tty: 'ttys003',
      uid: 0,
      realUid: 501,
      start: String(Date.UTC(2026, 10, 16, 3, 5, 39) / 1000),
    },
    { pid: 537, sid: null, tty: '??', uid: -2 },
  ]);
  expect(rows[0]!.start).toBe(String(Date.UTC(2026, 1, 6, 12, 52, 44) / 1000));
});

test('figures come for those that exist, in any number', async () => {
  const strangers = Array.from({ length: 900 }, (_, i) => 4_000_000 + i);
  const usage = await readUsage([...strangers, process.pid]);
  expect([...usage.keys()]).toEqual([process.pid]);
  expect(usage.get(process.pid)!.rss).toBeGreaterThan(1024 ** 2);
  expect((await readUsage(strangers)).size).toBe(0);
  expect((await readUsage([])).size).toBe(0);
});
