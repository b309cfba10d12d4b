import { describe, expect, test } from 'vitest';
import { INVENTED_PROCESSES } from '../../src/observe/invented/machine.ts';
import { drive } from './drive.ts';

describe('the terminal is given back', () => {
  test('quit: main screen, cursor shown, raw mode off, exit code 0', async () => {
    const driven = await drive(80, 24);
    expect(driven.terminal.alternate).toBe(true);
    expect(driven.terminal.stdin.raw).toBe(true);
    await driven.type('q');
    expect(await driven.ended).toBe(0);
    await driven.terminal.settled();
    expect(driven.terminal.alternate).toBe(false);
    expect(driven.terminal.stdin.raw).toBe(false);
    expect(driven.terminal.stdout.writes.at(-1)).toContain('\u001b[?25h');
    expect(driven.terminal.stdout.writes.at(-1)).toContain('\u001b[?7h');
  });

  test('Ctrl-C works from anywhere and is 130', async () => {
    const driven = await drive(80, 24);
    await driven.press('clean');
    expect(await driven.close()).toBe(130);
    expect(driven.terminal.alternate).toBe(false);
  });

  test('a terminal that hangs up ends it', async () => {
    const driven = await drive(80, 24);
    driven.terminal.stdin.emit('end');
    expect(await driven.ended).toBe(129);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends it with %i', async (signal, code) => {
    const driven = await drive(80, 24);
    process.emit(signal);
    expect(await driven.ended).toBe(code);
    await driven.terminal.settled();
    expect(driven.terminal.alternate).toBe(false);
  });

  test('no listener is left behind', async () => {
    const count = () =>
      process.listenerCount('SIGTERM') + process.listenerCount('exit') + process.listenerCount('SIGCONT');
    const before = count();
    const driven = await drive(80, 24);
    await driven.close();
    expect(count()).toBe(before);
    expect(driven.terminal.stdout.listenerCount('resize')).toBe(0);
  });

  test('Ctrl-Z gives the terminal to the shell, and coming back draws everything again', async () => {
    let alternateWhenStopped: boolean | null = null;
    const driven = await drive(80, 24, {
      stopSelf: () => {
        alternateWhenStopped = driven.terminal.stdin.raw;
      },
    });
    const before = driven.terminal.text();
    driven.terminal.type('\u001a');
    expect(alternateWhenStopped).toBe(false);
    await driven.terminal.settled();
    expect(driven.terminal.alternate).toBe(false);
    process.emit('SIGCONT');
    await driven.terminal.until('leaked');
    expect(driven.terminal.alternate).toBe(true);
    expect(driven.terminal.stdin.raw).toBe(true);
    expect(driven.terminal.text()).toBe(before);
    await driven.close();
  });
});

describe('frames', () => {
  test('nothing is written when nothing visible changed', async () => {
    const driven = await drive(80, 24);
    const before = driven.terminal.stdout.writes.length;
    void driven.demo.live.refresh();
    void driven.demo.live.refresh();
    await driven.type('');
    // The first refresh may move the sparkline by one; after that the machine stands still.
    const settled = driven.terminal.stdout.writes.length;
    expect(settled - before).toBeLessThanOrEqual(2);
    driven.terminal.type('\u001b[I');
    await driven.type('');
    expect(driven.terminal.stdout.writes.length).toBe(settled);
    await driven.close();
  });

  test('a move of the cursor rewrites the rows it touches, not the screen', async () => {
    const driven = await drive(200, 50);
    const before = driven.terminal.stdout.writes.length;
    await driven.press('down');
    const written = driven.terminal.stdout.writes.slice(before).join('');
    expect(written.length).toBeLessThan(1500);
    await driven.close();
  });

  test('no row is wider than the screen', async () => {
    for (const [columns, rows] of [
      [40, 10],
      [60, 40],
      [80, 24],
      [120, 40],
      [200, 50],
      [23, 6],
    ] as const) {
      const driven = await drive(columns, rows);
      expect(Math.max(...driven.terminal.lines().map(line => [...line].length))).toBeLessThanOrEqual(columns);
      await driven.close();
    }
  });

  test('300 resizes end equal to a fresh start', async () => {
    const driven = await drive(120, 40);
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return seed % below;
    };
    for (let i = 0; i < 300; i += 1) driven.terminal.resize(40 + random(160), 10 + random(40));
    driven.terminal.resize(80, 24);
    await driven.type('');
    const fresh = await drive(80, 24);
    expect(driven.terminal.text()).toBe(fresh.terminal.text());
    for (let row = 0; row < 24; row += 1)
      expect(driven.terminal.cells(row)).toEqual(fresh.terminal.cells(row));
    await driven.close();
    await fresh.close();
  });

  test('wide and combining characters keep every column in its place', async () => {
    const odd = INVENTED_PROCESSES.map(p =>
      p.pid === 3310 ? { ...p, argv: ['npx', '価格サーバー-e\u0301te\u0301-ещё-mcp'] } : p,
    );
    const driven = await drive(140, 50, { processes: odd });
    const row = driven.terminal.lines().find(line => line.includes('価格'))!;
    const other = driven.terminal.lines().find(line => line.includes('3402'))!;
    const cellsBefore = (line: string, part: string): number => {
      const head = line.slice(0, line.indexOf(part));
      return [...head].reduce((n, c) => n + (c === '\u0301' ? 0 : /[\u3000-\uffff]/.test(c) ? 2 : 1), 0);
    };
    expect(cellsBefore(row, 'started by')).toBe(cellsBefore(other, 'child of'));
    await driven.close();
  });
});

describe('looks', () => {
  test('NO_COLOR: no colour at all, the selection is still inverse', async () => {
    const driven = await drive(80, 24, { env: { LANG: 'C.UTF-8', NO_COLOR: '1' } });
    for (let row = 0; row < 24; row += 1)
      for (const cell of driven.terminal.cells(row))
        expect([cell.foreground, cell.background]).toEqual([null, null]);
    expect(driven.terminal.cells(4)[10]!.inverse).toBe(true);
    await driven.close();
  });

  test('ASCII only where the locale is not UTF-8', async () => {
    const driven = await drive(80, 24, { env: { LANG: 'C' } });
    expect(driven.terminal.text()).toMatch(/^[\n -~]+$/);
    await driven.press('next-finding', 'detail');
    expect(driven.terminal.text()).toMatch(/^[\n -~]+$/);
    await driven.close();
  });

  test('screen-reader mode: sentences in a list, no alternate screen', async () => {
    const driven = await drive(120, 40, { screenReader: true });
    await driven.type('j');
    expect(driven.terminal.alternate).toBe(false);
    expect(driven.terminal.text()).toContain('Row 2 of 53: claude, agent, process 1501, live, 538 MiB');
    expect(driven.terminal.text()).not.toMatch(/[│├└▾]/);
    await driven.close();
  });
});
