import { afterEach, describe, expect, test } from 'vitest';
import { matcher } from '../../../src/tui/tree/row-order.ts';
import { type Driven, drive } from '../drive.ts';

let driven: Driven;
const open = async (columns = 120, rows = 40): Promise<void> => {
  driven = await drive(columns, rows);
};
afterEach(async () => {
  await driven.close();
});
const text = (): string => driven.terminal.text();
const lastRow = (): string => driven.terminal.lines().at(-1)!;
const cursorRow = (): string => driven.terminal.lines().findLast(line => /^│?▌/.test(line)) ?? '';
/** Something happens to processes, and the screen looks again. */
const signal = async (name: 'SIGKILL' | 'SIGCHLD', ...pids: readonly number[]): Promise<void> => {
  for (const pid of pids) driven.demo.system.deliver?.(pid, name);
  await new Promise(resolve => setImmediate(resolve));
  await driven.demo.tick(2);
  await driven.type('');
};
const ends = (...pids: readonly number[]): Promise<void> => signal('SIGKILL', ...pids);
const select = async (pid: number): Promise<void> => {
  await driven.filterTo(pid);
  await driven.press('back');
};

describe('a selected row that ends', () => {
  test('stays as ended, and no key acts on its neighbour', async () => {
    await open();
    await select(3505);
    expect(cursorRow()).toContain('3505');
    await ends(3505);
    expect(cursorRow()).toMatch(/gone +3505.*it has ended/);
    await driven.press('end-process');
    expect(lastRow()).toContain('This process has ended; select another row.');
    expect(text()).not.toContain('End:');
    await driven.press('mark', 'fix');
    expect(lastRow()).toContain('Nothing to fix on this row');
    await driven.demo.tick(2);
    await driven.type('');
    expect(cursorRow()).toMatch(/gone +3505/);
  });

  test('leaves when the user moves', async () => {
    await open();
    await select(3505);
    await ends(3505);
    await driven.press('down');
    expect(cursorRow()).not.toContain('3505');
    expect(text()).not.toMatch(/gone +3505/);
  });

  test('a heading of which nothing is left stays too: space marks no other group', async () => {
    await open();
    await select(3402);
    await driven.press('up');
    await ends(3402, 3440, 3450, 3460);
    expect(cursorRow()).toMatch(/gone .*session c0ffee12.*all ended/);
    await driven.press('mark', 'end-process');
    expect(lastRow()).toContain('select another row');
  });

  test('what only matches the filter no more stays, and is no neighbour either', async () => {
    await open();
    await driven.press('filter');
    await driven.type('zombie 3402');
    await driven.press('filter-keep');
    expect(cursorRow()).toContain('3402');
    await signal('SIGCHLD', 3402);
    expect(cursorRow()).toContain('3402');
    expect(cursorRow()).not.toContain('gone');
  });
});

describe('the finding under the cursor', () => {
  test('keeps the cursor when others come and go, and stays as over when it is', async () => {
    await open();
    await driven.press('next-panel');
    const findings = () => driven.demo.live.getState().snapshot.findings;
    const at = findings().findIndex(f => f.id === 'concurrent-builds');
    await driven.type('j'.repeat(at));
    expect(cursorRow()).toContain('lake builds');
    await ends(3310);
    await ends(3331);
    expect(cursorRow()).toContain('lake builds');
    await ends(2190);
    expect(cursorRow()).toMatch(/resolved +2 lake builds/);
    await driven.press('fix');
    expect(lastRow()).toContain('Nothing to fix on this row');
    await driven.press('end-process');
    expect(lastRow()).toContain('Nothing to act on');
    const next = findings().findIndex(f => f.id === 'concurrent-builds');
    expect(next).toBe(-1);
    await driven.press('down');
    expect(text()).not.toContain('resolved ');
  });
});

describe('the line of the log under the cursor', () => {
  test('keeps the cursor when newer lines come above it, and enter opens that very line', async () => {
    await open();
    await driven.press('previous-panel', 'end');
    const before = cursorRow();
    expect(before).toContain('guard: ');
    await signal('SIGCHLD', 3402);
    await ends(3310, 3331);
    expect(text()).toContain('resolved: ');
    expect(cursorRow()).toBe(before);
    await driven.press('detail');
    expect(text()).toContain('by guard');
  });
});

describe('space on a folded heading', () => {
  test('marks what is below it', async () => {
    await open();
    await select(3310);
    await driven.press('up', 'left', 'mark', 'end-process');
    expect(text()).toContain('End: 5 processes');
  });
});

describe('c with a filter', () => {
  test('says how many of them the filter hides', async () => {
    await open();
    await driven.press('filter');
    // Live ones match it too: they are none of the nine.
    await driven.type('lean');
    const matched = driven.demo.live.getState().snapshot.processes.filter(p => matcher('lean')!(p));
    const leaked = matched.filter(p => p.verdict === 'leak');
    expect(matched.length).toBeGreaterThan(leaked.length);
    await driven.press('filter-keep', 'clean');
    expect(text()).toContain(
      `c cleans all 9 (${9 - leaked.filter(p => !/^[ZX]/.test(p.facts.state)).length} hidden by the filter)`,
    );
  });

  test('says nothing where it hides none, or there is none', async () => {
    await open();
    await driven.press('clean');
    expect(text()).not.toContain('hidden by the filter');
    await driven.press('back');
    await driven.press('filter');
    await driven.type('leak');
    await driven.press('filter-keep', 'clean');
    expect(text()).toContain('Clean what is proven leaked: 9');
    expect(text()).not.toContain('hidden by the filter');
  });
});

describe('one list, and groups', () => {
  test('M: the biggest hog is one key away, selected; again: the smallest', async () => {
    await open();
    await driven.press('by-memory');
    expect(cursorRow()).toContain('3460');
    expect(text()).toContain('MEM');
    await driven.press('by-memory');
    expect(cursorRow()).not.toContain('3460');
    expect(text()).toContain('▲MEM');
    await driven.press('by-cpu');
    expect(cursorRow()).toMatch(/ (99|100) /);
    await driven.press('by-age');
    expect(text()).toContain('▼AGE');
  });

  test('t goes from tmux to projects to a list and back', async () => {
    await open();
    await driven.press('end', 'grouping');
    expect(text()).toMatch(/▾ (webshop|task-701|prices-api)/);
    expect(lastRow()).toContain('By project.');
    await driven.press('grouping');
    expect(text()).not.toMatch(/[├└] /);
    await driven.press('grouping');
    expect(text()).toMatch(/[├└] /);
    expect(lastRow()).toContain('By tmux session.');
  });

  test('n finds its process in a list too', async () => {
    await open();
    await driven.press('by-memory', 'next-finding', 'next-finding');
    expect(cursorRow()).toMatch(/1522|3402|3310|3505/);
  });
});
