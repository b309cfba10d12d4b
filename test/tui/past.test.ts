import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Live } from '../../src/engine/live-state.ts';
import { TimeTravel } from '../../src/engine/time-travel.ts';
import type { Mark } from '../../src/model/report.ts';
import type { Snapshot } from '../../src/model/snapshot.ts';
import { Recorder } from '../../src/remember/recorder/recorder.ts';
import { Sandbox } from '../support/sandbox.ts';
import { type Driven, drive, standingDemo } from './drive.ts';
import { pictureFile } from './picture.ts';
import { screenSvg } from './screen-svg.ts';

const screens = fileURLToPath(new URL('./__screens__/', import.meta.url));

/** The night: what the demo's machine went through between three and half past. */
const NIGHT = Date.UTC(2026, 10, 16, 3, 0, 0);
const MARKS: readonly (Mark & { readonly minute: number })[] = (
  [
    [4, 'leak', '4 leaked: playwright-mcp'],
    [9, 'silent', 'claude in proofs fell silent'],
    [12, 'peak', 'memory peak: 23G'],
    [14, 'oom', 'the kernel killed a process: out of memory'],
    [19, 'ended', 'guard: 4 ended'],
  ] as const
).map(([minute, mark, text]) => ({ minute, mark, text, at: NIGHT + minute * 60_000 }));

let sandbox: Sandbox;
let driven: Driven;

/** The live screen on a demo whose night was recorded, opened at a minute of it. */
const openAt = async (minute: number, columns: number, rows: number): Promise<Driven> => {
  const demo = await standingDemo({ looks: 35 });
  const directory = sandbox.path('state');
  const recorder = new Recorder({ directory, monotonic: () => 0 });
  const snapshot: Snapshot = demo.live.getState().snapshot;
  for (let at = 0; at < 30; at += 1)
    await recorder.record(
      { ...snapshot, takenAt: NIGHT + at * 60_000, clock: snapshot.clock - (30 - at) * 60 },
      MARKS.filter(mark => mark.minute === at).map(({ minute: _, ...mark }) => mark),
    );
  const env = { ...sandbox.env, XDG_STATE_HOME: sandbox.path('nowhere') };
  const travel = new TimeTravel({ live: demo.live, env, directory });
  expect(await travel.open({ at: NIGHT + minute * 60_000 }, 0)).toBeNull();
  const past = (): Partial<Live> => ({
    subscribe: listener => travel.subscribe(listener),
    getState: () => travel.getState(),
    history: key => travel.history(key),
    treeHistory: key => travel.treeHistory(key),
    plan: request => travel.plan(request),
    run: (plan, request) => travel.run(plan, request),
    travel: step => travel.travel(step),
  });
  return drive(columns, rows, { demo, answering: past });
};

beforeEach(() => {
  sandbox = new Sandbox();
});
afterEach(async () => {
  await driven.close();
  await sandbox.close();
});

/** The row with the hour around the moment. */
const timeLine = (): string =>
  driven.terminal
    .text()
    .split('\n')
    .find(line => /\d\d:\d\d [-LESMOB|]+ \d\d:\d\d/.test(line)) ?? '';

describe('the past on the screen', () => {
  test('at 40×10 the one row of the header says which moment it is', async () => {
    driven = await openAt(14, 40, 10);
    expect(driven.terminal.lines()[0]).toMatch(/^ 1 waiting {2}1 hung {2}PAST 11-16 \d\d:14:00 *$/);
  });

  test.each([
    [120, 40, true],
    [60, 40, false],
  ])(
    'at %i×%i: the tree as it was, which moment it is, and the hour around it',
    async (columns, rows, wanted) => {
      driven = await openAt(14, columns, rows);
      const name = `past-${columns}x${rows}`;
      const svg = screenSvg(driven.terminal, 'reaptop: The night as guard recorded it');
      await expect(`${driven.terminal.text()}\n`).toMatchFileSnapshot(`${screens}${name}.txt`);
      if (wanted) await expect(svg).toMatchFileSnapshot(pictureFile(name, wanted));
    },
  );

  test('the time line has a letter for everything that happened, in its place', async () => {
    driven = await openAt(0, 120, 40);
    expect(timeLine()).toMatch(/02:30 -+\|-+L-+S-+M-+O-+E-+ 03:30/);
  });

  test('{ and } jump from mark to mark and say what it was, [ and ] step, ] at the end is live again', async () => {
    driven = await openAt(14, 120, 40);
    expect(timeLine()).toContain('out of memory');
    await driven.press('mark-back');
    expect(timeLine()).toContain('memory peak: 23G');
    await driven.press('mark-back');
    expect(timeLine()).toContain('claude in proofs fell silent');
    await driven.press('mark-forward', 'mark-forward', 'mark-forward');
    expect(timeLine()).toContain('guard: 4 ended');
    await driven.press('time-back');
    expect(driven.terminal.text()).toContain('03:18');
    await driven.press(...Array<'time-forward'>(12).fill('time-forward'));
    expect(timeLine()).toBe('');
  });

  test('Esc is now again, and the footer says so', async () => {
    driven = await openAt(14, 120, 40);
    const footer = (): string => driven.terminal.lines().at(-1)!;
    expect(footer()).toMatch(/\[ \] step {2}\{ \} event {2}Esc now/);
    await driven.press('back');
    expect(timeLine()).toBe('');
    expect(driven.terminal.text()).not.toContain('PAST');
    expect(footer()).toMatch(/x end/);
  });

  test('nothing is offered that cannot be done', async () => {
    driven = await openAt(14, 120, 40);
    expect(driven.terminal.lines().at(-1)).not.toMatch(
      /x end|X kill|f fix|c clean|z zombies|S signal|o pane/,
    );
    expect(driven.terminal.text()).not.toMatch(/→ f:|press c to clean/);
  });

  test('nothing can be signalled, and it says why', async () => {
    driven = await openAt(14, 120, 40);
    const before = driven.terminal.text();
    await driven.press('clean');
    expect(driven.terminal.text()).toContain('nothing can be signalled in the past');
    expect(driven.terminal.text()).not.toContain('Clean what is proven leaked');
    await driven.type('y');
    // All but the footer, which says that y means nothing here.
    const above = (text: string): string => text.slice(0, text.lastIndexOf('\n'));
    expect(above(driven.terminal.text())).toBe(above(before));
    expect(driven.demo.system.delivered).toEqual([]);
  });
});
