import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Driven, drive } from '../drive.ts';

let driven: Driven;
const text = (): string => driven.terminal.lines().join('\n');
const lastRow = (): string => driven.terminal.lines().at(-1)!;

beforeEach(async () => {
  driven = await drive(120, 40);
  await driven.press('next-panel', 'next-panel');
});
afterEach(() => driven.close());

describe('on a row of the heartbeats', () => {
  test('the whole path, its agent and what can be done stand below it', () => {
    expect(text()).toMatch(/▌ critical .*silent for 13m/);
    expect(text()).toMatch(/~\/proofs\/\S+\/\.agent-progress\.json/);
    expect(text()).toMatch(/task 688: no heartbeat for 13m → f: see what it waits for, or end it/);
  });

  test('f fixes its finding, enter goes to its agent, Y copies its path', async () => {
    await driven.press('copy');
    expect(lastRow()).toContain('Copied the path');
    await driven.press('fix');
    expect(text()).toMatch(/Fix heartbeat-stale|silent/);
    await driven.press('back');
    await driven.press('detail');
    expect(driven.terminal.lines().find(line => /^│?▌/.test(line))).toMatch(/claude/);
  });

  test('A acknowledges its finding, the Log lists it, and A there takes it back', async () => {
    const findings = () => Number(/Findings (\d+)/.exec(text())?.[1]);
    const before = findings();
    await driven.press('acknowledge');
    expect(lastRow()).toContain('Acknowledged; quiet until it changes.');
    expect(findings()).toBe(before - 1);
    await driven.press('next-panel', 'next-panel');
    expect(text()).toMatch(/▌ \d\d:\d\d {2}acknowledged: task 688: no heartbeat/);
    await driven.press('acknowledge');
    expect(lastRow()).toContain('Taken back');
    expect(findings()).toBe(before);
  });
});
