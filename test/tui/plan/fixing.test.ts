import { afterEach, describe, expect, test } from 'vitest';
import { remedyInKeys } from '../../../src/model/plan-text.ts';
import { type Driven, type DriveOptions, drive } from '../drive.ts';

let driven: Driven;
const open = async (columns = 120, rows = 40, options: DriveOptions = {}): Promise<Driven> => {
  driven = await drive(columns, rows, options);
  return driven;
};
afterEach(async () => {
  await driven?.close();
  driven = undefined!;
});
const FINDING = { id: 'leak', severity: 'warn', title: '', why: '', processes: [], files: [] } as const;
const text = (): string => driven.terminal.text();
const lastRow = (): string => driven.terminal.lines().at(-1)!;
const signalled = (): readonly string[] =>
  driven.demo.system.delivered
    .filter(({ signal }) => signal !== 'SIGSTOP' && signal !== 'SIGCONT') // to hold it still for the other
    .map(({ pid, signal }) => `${pid} ${signal}`);
const findings = () => driven.demo.live.getState().snapshot.findings;

/** Puts the cursor of the panel on the first finding of this kind. */
const toFinding = async (id: string): Promise<void> => {
  await driven.press('next-panel');
  const at = findings().findIndex(f => f.id === id);
  if (at > 0) await driven.type('j'.repeat(at));
};
describe('f mends a finding', () => {
  test('the one in the panel: plan first, y runs it, and only the newer build ends', async () => {
    await open();
    await toFinding('concurrent-builds');
    await driven.press('fix');
    expect(text()).toContain('Fix concurrent-builds: 1 process');
    expect(text()).toMatch(/TERM +live +2190 lake build/);
    expect(text()).toContain('LIVE: ends lake build (2190)');
    expect(text()).toContain('TERM, KILL after 5 s, children first');
    expect(signalled()).toEqual([]);
    await driven.type('y');
    await driven.terminal.until('1 ended');
    expect(signalled()).toEqual(['2190 SIGTERM']);
  });

  test('fixes the finding of the selected row, also on the process that stays', async () => {
    await open();
    await driven.filterTo(2140);
    await driven.press('fix');
    expect(text()).toContain('Fix concurrent-builds: 1 process');
    expect(text()).toMatch(/TERM +live +2190 lake build/);
  });

  test('Enter, Esc, f again and n leave the plan and nothing happens', async () => {
    await open();
    await toFinding('concurrent-builds');
    for (const key of ['\r', '\u001b', 'f', 'n']) {
      await driven.press('fix');
      expect(text()).toContain('Fix concurrent-builds');
      await driven.type(key);
      expect(text()).not.toContain('Fix concurrent-builds');
    }
    expect(signalled()).toEqual([]);
  });

  test('fy in one chunk runs nothing', async () => {
    await open();
    await toFinding('concurrent-builds');
    await driven.type('fy');
    expect(text()).toContain('Fix concurrent-builds');
    expect(signalled()).toEqual([]);
  });

  test('a leak: its own tree alone, not what else leaked', async () => {
    await open();
    await driven.filterTo(3310);
    await driven.press('fix');
    expect(text()).toContain('Fix leak');
    await driven.type('y');
    await driven.terminal.until('ended');
    expect(signalled()).toContain('3310 SIGTERM');
    expect(signalled()).not.toContain('3402 SIGTERM');
  });

  test('a row without a finding, and a finding without a remedy, say so', async () => {
    await open();
    await driven.filterTo(1210);
    await driven.press('fix');
    expect(lastRow()).toContain('Nothing to fix on this row');
    await driven.press('back');
    await driven.filterTo(1550);
    await driven.press('fix');
    expect(lastRow()).toContain('Nothing to run: watch it');
    expect(signalled()).toEqual([]);
  });

  test('a file of the invented machine is left alone, with the reason', async () => {
    await open();
    await toFinding('leftover-files');
    await driven.press('fix');
    expect(text()).toContain('Left alone:');
    expect(text()).toContain('invented: it has no files');
    expect(text()).toContain('Nothing would be signalled');
  });

  test('a recorded table is read-only', async () => {
    await open(120, 40, { readOnly: 'A recorded table: nothing here can be signalled.' });
    await toFinding('concurrent-builds');
    await driven.press('fix');
    expect(lastRow()).toContain('A recorded table');
  });
});

describe('keys in a panel act on its entry', () => {
  test('x in the findings: the processes of the finding, never the selected row of the tree, nor marks', async () => {
    await open();
    await driven.press('down', 'mark');
    await toFinding('heartbeat-stale');
    await driven.press('end-process');
    expect(text()).toMatch(/TERM +live +5230 claude/);
    expect(text()).not.toMatch(/TERM +LEAK/);
  });

  test('x in the log, and on a finding without a process, has nothing to act on', async () => {
    await open();
    await driven.press('down', 'previous-panel', 'end-process');
    expect(lastRow()).toContain('Nothing to act on');
    await driven.press('back');
    await toFinding('leftover-files');
    await driven.press('end-process');
    expect(lastRow()).toContain('Nothing to act on');
    expect(text()).not.toContain('End:');
  });
});

describe('findings name keys here', () => {
  test('and no command, in the panel and the detail pane', async () => {
    await open(200, 50);
    await driven.press('next-panel');
    expect(text()).toContain('f: ');
    expect(text()).not.toMatch(/reaptop (clean|sweep)/);
    for (const finding of findings()) expect(remedyInKeys(finding)).not.toMatch(/reaptop (clean|sweep)/);
  });

  test.each([
    ['end it: 3 GiB reclaimable', 'clean', 'f: end it: 3 GiB reclaimable'],
    ['tell him; reaptop never writes a registry', null, 'tell him; reaptop never writes a registry'],
  ] as const)('%s', (remedy, action, told) => {
    expect(remedyInKeys({ ...FINDING, remedy, action })).toBe(told);
  });
});
