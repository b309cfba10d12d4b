import { afterEach, describe, expect, test } from 'vitest';
import { INVENTED_PROCESSES } from '../../src/observe/invented/machine.ts';
import { type Driven, type DriveOptions, drive } from './drive.ts';

let driven: Driven;
const open = async (columns = 100, rows = 30, options: DriveOptions = {}): Promise<void> => {
  driven = await drive(columns, rows, options);
};
afterEach(async () => {
  await driven.close();
});
const text = (): string => driven.terminal.text();
const lines = (): string[] => driven.terminal.lines();
const lastRow = (): string => lines().at(-1)!;
/** Presses n until that finding is named. */
const toFinding = async (named: string): Promise<void> => {
  const { findings } = driven.demo.live.getState().snapshot;
  for (let at = 0; at < findings.length && !lastRow().includes(named); at += 1)
    await driven.press('next-finding');
  expect(lastRow()).toContain(named);
};
const selected = (): string => lines().find(line => /^│?▌/.test(line)) ?? '';

describe('moving', () => {
  test('arrows and letters move, home and end go to the ends, pages by pages', async () => {
    await open();
    await driven.press('down', 'down', 'up');
    expect(selected()).toContain('1501');
    await driven.press('end');
    expect(selected()).toContain('4020');
    expect(text()).toContain('53 of 53');
    await driven.press('page-up', 'home');
    expect(selected()).toContain('1215');
    await driven.press('page-down');
    expect(text()).toMatch(/1[4-9] of 53/);
  });

  test('left folds, then goes to the parent; right opens again', async () => {
    await open();
    await driven.type('jjjj');
    await driven.press('left');
    expect(selected()).toMatch(/1530.*▸ lake serve ×4/);
    await driven.press('left');
    expect(selected()).toContain('1522');
    await driven.press('right');
    expect(selected()).toContain('1530');
    await driven.press('right');
    expect(text()).toContain('lean --serv');
  });

  test('a level up there are half as many rows, at the top one per session; what was selected stays so', async () => {
    await open(100, 40);
    await driven.filterTo(3460);
    await driven.press('back', 'level-up');
    expect(text()).toMatch(/of 26 /);
    expect(selected()).toContain('session c0ffee12');
    await driven.press('level-up');
    expect(text()).toMatch(/of 13 /);
    expect(selected()).toContain('session c0ffee12');
    await driven.press('level-3');
    expect(text()).toContain('of 53');
  });

  test('w goes to who waits, from anywhere', async () => {
    await open();
    await driven.press('end', 'next-waiting');
    expect(selected()).toContain('1501');
    expect(lastRow()).toContain('waits for you');
  });

  test('selection, marks and folds stay with their process when rows come and go', async () => {
    await open();
    await driven.filterTo(3402);
    await driven.press('back', 'mark', 'up');
    expect(selected()).toContain('3402');
    await driven.demo.live.run(
      await driven.demo.live.plan({
        act: 'end',
        force: false,
        targets: [{ pid: 3310, start: String((30 * 86_400 - (2 * 86_400 + 4 * 3600)) * 100 + 10) }],
      }),
      { act: 'clean' },
    );
    await driven.terminal.until(/7 leaked/);
    expect(selected()).toContain('●');
    expect(selected()).toContain('3402');
  });
});

describe('finding things', () => {
  test('the filter works as you type, and Esc clears it', async () => {
    await open(160, 50);
    await driven.press('filter');
    await driven.type('densi');
    expect(text()).toContain('Density.lean');
    expect(text()).not.toContain('node vite');
    expect(lastRow()).toContain('filter densi');
    await driven.press('filter-erase', 'filter-keep');
    expect(lastRow()).toContain('/dens');
    await driven.press('back');
    expect(text()).toContain('node vite');
  });

  test('keys of the main screen are letters in the filter', async () => {
    await open();
    await driven.press('filter');
    await driven.type('qxc');
    expect(lastRow()).toContain('filter qxc');
    expect(text()).toContain('No row matches');
  });

  test('n and N go round the findings and say which', async () => {
    await open();
    await driven.press('next-finding');
    expect(selected()).toContain('1501');
    expect(lastRow()).toContain('waits for you');
    await driven.press('next-finding');
    expect(selected()).toContain('3310');
    expect(lastRow()).toMatch(/critical: .*leaked/);
    await driven.press('next-finding');
    expect(selected()).toContain('3402');
    await driven.press('previous-finding', 'previous-finding', 'previous-finding');
    expect(selected()).toContain('3755');
  });

  test('n goes round all findings beside another panel, too, where one process has several', async () => {
    await open();
    await driven.press('previous-panel', 'back');
    expect(text()).toMatch(/found: /);
    const told: string[] = [];
    while (told.length < 20 && !told.includes(lastRow())) {
      told.push(lastRow());
      await driven.press('next-finding');
    }
    const { findings } = driven.demo.live.getState().snapshot;
    // And the one that waits.
    expect(told.slice(1)).toHaveLength(findings.filter(({ processes }) => processes.length > 0).length + 1);
  });

  test('n opens what is folded above its process', async () => {
    await open();
    await driven.press('level-1');
    await toFinding('(1522) has 3 zombie');
    expect(selected()).toContain('1522');
  });

  test('enter in Findings goes to the process', async () => {
    await open();
    await driven.press('next-panel', 'down', 'detail');
    expect(selected()).toContain('3402');
  });

  test('a finding under the cursor tells why and the remedy where there is no room beside it', async () => {
    await open(60, 40);
    await driven.press('next-panel', 'down');
    expect(text()).toMatch(/child of Claude[\s│]+session[\s│]+c0ffee12[\s│]+in[\s│]+sphere-packing/);
    expect(text()).toMatch(/→ f: /);
  });

  test('o says what became of the jump', async () => {
    await open();
    await toFinding('(1522) has 3 zombie');
    await driven.press('pane');
    expect(lastRow()).toContain('lean-lsp-mcp (1522) is in a pane of another machine');
    await driven.press('end', 'pane');
    expect(lastRow()).toContain('not in a tmux pane');
  });
});

describe('looking', () => {
  test('sorting is told in the header', async () => {
    await open();
    await driven.press('sort');
    expect(text()).toContain('by memory');
    const leaks = lines().findIndex(line => line.includes('session 5b1e9c40'));
    expect(lines()[leaks + 1]).toContain('3505');
  });

  test('a frozen view stands still while the machine goes on', async () => {
    await open();
    await driven.press('freeze');
    // What is written down meanwhile is counted all the same.
    const shown = () =>
      lines()
        .slice(2)
        .join('\n')
        .replace(/ Log \d+ ─*/, '');
    const before = shown();
    await driven.demo.tick(600);
    await driven.terminal.settled();
    expect(shown()).toBe(before);
    expect(text()).toContain('FROZEN');
    await driven.press('freeze');
    expect(shown()).not.toBe(before);
  });

  test('the interval is stepped and has limits', async () => {
    await open();
    await driven.press('longer');
    expect(text()).toContain('every 3s');
    await driven.press('shorter', 'shorter', 'shorter');
    expect(text()).toContain('every 0.5s');
    await driven.press('shorter');
    expect(lastRow()).toContain('limit');
  });

  test('a shows all processes and back', async () => {
    await open();
    await driven.press('all', 'end');
    expect(text()).toContain('postgres');
    await driven.press('all');
    expect(text()).not.toContain('postgres');
  });

  test('the detail pane shows command, owner, verdict, memory with its forecast, and PSS', async () => {
    await open(200, 50);
    await toFinding('(1550) grows');
    await driven.press('detail');
    for (const part of [
      'verdict',
      'live: runs below claude (1501)',
      'agent 1501 0d9f2c7e, running: it runs below that agent',
      'GiB PSS',
      'growing by ',
      'reaches the limit of 1.9 GiB',
      '10m ago',
    ])
      expect(text()).toContain(part);
    await driven.press('detail');
    expect(text()).not.toContain('GiB PSS');
  });

  test('a long detail scrolls', async () => {
    await open(60, 30);
    await driven.press('next-finding', 'detail');
    const before = text();
    await driven.press('detail-down');
    expect(text()).not.toBe(before);
    await driven.press('detail-up');
    expect(text()).toBe(before);
  });

  test('help scrolls to its end and any other key leaves', async () => {
    await open();
    await driven.press(
      'help',
      'help-page-down',
      'help-page-down',
      'help-page-down',
      'help-page-down',
      'help-page-down',
    );
    expect(text()).toContain('nothing faint');
    await driven.type('z');
    expect(text()).not.toContain('─ Help');
    expect(text()).toContain('leaked');
  });

  test('an empty machine says what was looked for and how much was seen', async () => {
    const unrelated = INVENTED_PROCESSES.filter(p => p.pid < 1000);
    await open(80, 24, { processes: unrelated });
    expect(text()).toContain('0 recognised of 6 processes');
    expect(text()).toContain('Looked for: claude, codex');
  });
});
