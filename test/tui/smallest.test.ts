import { afterEach, describe, expect, test } from 'vitest';
import { type Driven, drive } from './drive.ts';

let driven: Driven;
afterEach(async () => {
  await driven.close();
});
const text = (): string => driven.terminal.text();
const rowWith = (part: string): string => driven.terminal.lines().find(line => line.includes(part)) ?? '';

const select = async (pid: number): Promise<void> => {
  await driven.press('filter');
  await driven.type(String(pid));
  await driven.press('filter-keep');
};

describe('on the smallest screen, 40×10', () => {
  test('the signal that enter would choose is in sight', async () => {
    driven = await drive(40, 10);
    await select(3310);
    await driven.press('signal', 'signals-up');
    expect(rowWith('▌')).toContain('SIGKILL');
    expect(rowWith('Choose')).toContain('10 of 10 ▲');
  });

  test('a plan has no half columns', async () => {
    driven = await drive(40, 10);
    await driven.press('clean');
    expect(rowWith('SIGNAL').trimEnd()).toMatch(/PID NAME +MEM$/);
    expect(rowWith('3331').trimEnd()).toMatch(/3331 context7-m… 109M$/);
  });

  test('the pid that a protected process asks for is seen while it is typed', async () => {
    driven = await drive(40, 10);
    await select(4101);
    await driven.press('end-process');
    await driven.type('410');
    expect(rowWith('Type its pid')).toContain('4101, to confirm: 410▏');
  });

  test('what is unusual about the screen is told whole, or not at all', async () => {
    driven = await drive(40, 10);
    const header = (): string => driven.terminal.lines()[0]!.trimEnd();
    await driven.press('freeze', 'down', 'mark', 'mark');
    expect(header()).toBe(' 9 leaked, 3.0G  demo  FROZEN  2 marked');
    await driven.press('all', 'by-memory');
    expect(header()).toBe(' 9 leaked, 3.0G  FROZEN  2 marked');
  });
});

test('a parent that is nudged and then perhaps ended is counted once', async () => {
  driven = await drive(120, 40);
  await driven.press('zombies');
  expect(text()).toContain('nudge 2; end 4');
  expect(rowWith('Press y')).toContain(' 5 processes: CHLD first');
});

test('the interval is told beside as many flags as there is room for', async () => {
  driven = await drive(72, 30);
  await driven.press('freeze', 'down', 'mark', 'all', 'by-memory');
  expect(driven.terminal.lines()[0]!.trimEnd()).toMatch(/all processes {2}by memory {2}1 marked +every 2s$/);
});

test('what fits of the header is told: a fact that is too long takes no other along', async () => {
  driven = await drive(80, 24);
  expect(driven.terminal.lines()[1]).toContain('1 waits for you  2 stale');
});
