import { spawnSync } from 'node:child_process';
import { pause, usageOf } from './measure.ts';
import { type Row, ratioRow, skippedRow } from './report.ts';
import { RESTLESS, type Stage } from './stage.ts';
import { BenchTerminal, WIDE } from './terminal.ts';

const WARM_MS = 10_000;
const WINDOW_MS = 30_000;
const TICK_MS = 10;
const REFRESH_MS = 2000;

/** The age of a process is told in seconds during its first minute: until then every row changes. */
export const SETTLED_MS = 65_000;

const LIMITS = [
  { crowd: 100, changing: 1.2, still: null },
  { crowd: 1000, changing: 0.35, still: 0.4 },
  { crowd: 5000, changing: 0.2, still: 0.2 },
] as const;

/** Ours and htop side by side in terminals of one size: CPU of each with all its descendants. */
export const benchCpu = async (stage: Stage): Promise<Row[]> => {
  if (spawnSync('htop', ['--version']).error !== undefined)
    return [skippedRow('TUI, CPU over 30 s / htop', 'htop is not installed: apt-get install htop')];
  const rows: Row[] = [];
  await stage.agent();
  const born = Date.now();
  for (const { crowd, changing, still } of LIMITS) {
    await stage.crowd.be(crowd);
    await pause(born + SETTLED_MS - Date.now());
    rows.push(await compare(stage, `${crowd} processes, ${RESTLESS} rows change`, changing, true));
    if (still !== null) rows.push(await compare(stage, `${crowd} processes, nothing changes`, still, false));
  }
  return rows;
};

const compare = async (stage: Stage, what: string, limit: number, changing: boolean): Promise<Row> => {
  const options = { ...stage.commandOptions, size: WIDE };
  await stage.earlierScreen();
  stage.stir(changing);
  const ours = new BenchTerminal(stage.cli, ['--interval', '2'], options);
  const theirs = new BenchTerminal('htop', ['-d', '20'], options);
  try {
    await ours.wrote('mcp-server-');
    await pause(WARM_MS);
    const before = { ours: usageOf(ours.pid).ticks, theirs: usageOf(theirs.pid).ticks };
    let frames = 0;
    ours.onOutput = data => {
      if (data.includes('\u001b[?2026h')) frames += 1;
    };
    await pause(WINDOW_MS);
    const after = { ours: usageOf(ours.pid).ticks, theirs: usageOf(theirs.pid).ticks };
    // One or two of them may look the same twice by chance, or a refresh be missed; never to change would flatter us.
    let changed = await rowsChanged(ours);
    for (let again = 0; changing && changed < RESTLESS - 2 && again < 3; again += 1)
      changed = Math.max(changed, await rowsChanged(ours));
    if (changing && changed < RESTLESS - 2) throw new Error(`only ${changed} rows change`);
    return ratioRow(`TUI, CPU over 30 s, ${what} / htop`, {
      ours: (after.ours - before.ours) * TICK_MS,
      theirs: (after.theirs - before.theirs) * TICK_MS,
      limit,
      note: `; ${frames} frames`,
    });
  } finally {
    stage.stir(false);
    await Promise.all([ours.close(), theirs.close()]);
  }
};

/** From one refresh to the next. Fails when the program had to slow down: then less was done than was compared. */
const rowsChanged = async (terminal: BenchTerminal): Promise<number> => {
  const before = await terminal.screen();
  if (before[0]!.includes('slowed')) throw new Error('the program slowed down in the window');
  await pause(REFRESH_MS * 1.2);
  const after = await terminal.screen();
  return after.filter((line, row) => line !== before[row]).length;
};
