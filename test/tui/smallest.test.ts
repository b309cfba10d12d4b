import { afterEach, describe, expect, test } from 'vitest';
import { type Driven, drive } from './drive.ts';

let driven: Driven;
afterEach(async () => {
  await driven.close();
});
const text = (): string => driven.terminal.text();
const rowWith = (part: string): string => driven.terminal.lines().find(line => line.includes(part)) ?? '';

describe('on the smallest screen, 40×10', () => {
  test('the signal that enter would choose is in sight', async () => {
    driven = await drive(40, 10);
    await driven.filterTo(3310);
    await driven.press('signal', 'signals-up');
    expect(rowWith('▌')).toContain('SIGKILL');
    expect(rowWith('Choose')).toContain('10 of 10 ▲');
  });

  test('a plan has no half columns', async () => {
    driven = await drive(40, 10);
    await driven.press('clean');
    expect(rowWith('SIGNAL').trimEnd()).toMatch(/PID NAME +MEM$/);
    expect(rowWith('3331').trimEnd()).toMatch(/3331 {3}context7… 109M$/);
  });

  test('the pid that a protected process asks for is seen while it is typed', async () => {
    driven = await drive(40, 10);
    await driven.filterTo(4101);
    await driven.press('end-process');
    await driven.type('410');
    expect(rowWith('Type its pid')).toContain('4101, to confirm: 410▏');
  });

  test('a reason is told to its end, over the last rows, and nothing moves for it', async () => {
    driven = await drive(40, 10);
    await driven.filterTo(5330);
    await driven.press('back', 'left', 'left', 'left', 'left');
    const before = driven.terminal.lines();
    await driven.press('end-process');
    expect(driven.terminal.lines().slice(0, -2)).toEqual(before.slice(0, -2));
    expect(
      driven.terminal
        .lines()
        .slice(-2)
        .map(line => line.trim()),
    ).toEqual(['Nothing to act on: select a process,', 'or mark some with space.']);
    await driven.press('left');
    expect(driven.terminal.lines()).toEqual(before);
  });

  test('an export offers all its forms', async () => {
    driven = await drive(40, 10);
    await driven.press('export');
    expect(driven.terminal.lines().at(-1)).toMatch(/ t text {2}s SVG {2}j JSON +Esc leaves/);
  });

  test('no key acts on the tree while a panel stands in its place', async () => {
    driven = await drive(40, 10);
    await driven.press('down', 'next-panel', 'mark', 'left');
    expect(text()).toContain('This key is for the tree; Esc goes');
    await driven.press('back');
    expect(rowWith('▌')).toContain('claude');
    expect(text()).not.toContain('●');
    expect(text()).toContain('2 of 53');
  });

  test('what is unusual about the screen is told whole, or not at all', async () => {
    driven = await drive(40, 10);
    const header = (): string => driven.terminal.lines()[0]!.trimEnd();
    await driven.press('freeze', 'down', 'mark', 'mark');
    expect(header()).toBe(' 1 waiting  demo  FROZEN  2 marked');
    await driven.press('all', 'by-memory');
    expect(header()).toBe(' 1 waiting  1 hung  FROZEN  2 marked');
  });
});

test('a parent that is nudged and then perhaps ended is counted once', async () => {
  driven = await drive(120, 40);
  await driven.press('zombies');
  expect(text()).toContain('nudge 3 parents; if that fails and they are idle, end 2 servers and 3 below');
  expect(rowWith('Press y')).toContain(' 6 processes: CHLD first');
});

test('the interval is told beside as many flags as there is room for', async () => {
  driven = await drive(72, 30);
  await driven.press('freeze', 'down', 'mark', 'all', 'by-memory');
  expect(driven.terminal.lines()[0]!.trimEnd()).toMatch(/all processes {2}by memory {2}1 marked +every 2s$/);
});

test('what fits of the header is told: a fact that is too long takes no other along', async () => {
  driven = await drive(80, 24);
  expect(driven.terminal.lines()[1]).toContain('1 waiting  1 hung  9 leaked 3.0G  3 suspects  8 zombies  2 silent');
});

test('o in the findings is about the finding, not about the row of the tree', async () => {
  const asked: number[] = [];
  const jump = async ({ pid }: { readonly pid: number }) => {
    asked.push(pid);
    return '';
  };
  driven = await drive(120, 40, { answering: () => ({ jump }) });
  await driven.press('next-panel', 'down', 'down', 'down', 'pane');
  expect(rowWith('▌ critical')).toContain('(1522) has 3 zombie');
  expect(asked).toEqual([1522]);
});

test('what a wide row of a finding has no room for is told below it', async () => {
  driven = await drive(200, 50);
  await driven.press('next-panel');
  expect(text()).toContain('→ f: end them: 703 MiB reclaimable');
});

test('what was done on the invented machine is told in its own time', async () => {
  driven = await drive(120, 40);
  await driven.press('clean', 'go', 'running-leave', 'previous-panel');
  const { log, snapshot } = driven.demo.live.getState();
  expect(log.find(line => line.text.startsWith('tui: '))!.at).toBeLessThanOrEqual(snapshot.takenAt);
});

test('a screen reader is told which entry of a panel has the keys, and what is unusual', async () => {
  driven = await drive(120, 40, { screenReader: true });
  await driven.press('down', 'mark', 'next-panel', 'down');
  expect(text()).toMatch(/demo, 1 marked\.\nFinding 2 of \d+: critical: session c0ffee12/);
  await driven.press('next-panel');
  expect(text()).toMatch(/Heartbeat 1 of 13: critical, 13m old: silent for 13m/);
  await driven.press('next-panel');
  expect(text()).toMatch(/Session 1 of 2: asleep: invoices “refund mails”/);
  await driven.press('next-panel');
  expect(text()).toMatch(/Entry of the log 1 of \d+: \d\d:\d\d, /);
  await driven.press('back', 'detail');
  expect(text()).not.toMatch(/[─│█]/);
});
