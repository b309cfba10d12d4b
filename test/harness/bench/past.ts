import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../support/until.ts';
import { interleaved, median, pause, percentile, timeOfCommand } from './measure.ts';
import { type Row, toldRow, valueRow } from './report.ts';
import type { Stage } from './stage.ts';
import { BenchTerminal, WIDE } from './terminal.ts';
import { DAY_MS, RELATED, record, recorderDirectory, recordWeek } from './week.ts';

const MB = 1_000_000;
const PRESSES = 40;
const HOUR_MS = 3_600_000;

const bytesIn = (directory: string): number =>
  readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);

/** From the start of the program until a server is on the screen. */
const start = (stage: Stage, args: readonly string[], shown: string) => async (): Promise<number> => {
  const from = process.hrtime.bigint();
  let painted: bigint | null = null;
  const terminal = new BenchTerminal(stage.cli, args, {
    ...stage.commandOptions,
    size: WIDE,
  });
  terminal.onOutput = data => {
    if (painted === null && data.includes(shown)) painted = process.hrtime.bigint();
  };
  try {
    await until(`${shown} to be shown`, () => painted !== null, { timeoutMs: 60_000 });
  } finally {
    await terminal.close();
  }
  return Number(painted! - from) / 1e6;
};

/** From the press of `[` to the first byte that answers it. */
const steps = async (stage: Stage, at: string): Promise<number[]> => {
  const terminal = new BenchTerminal(stage.cli, ['--at', at], {
    ...stage.commandOptions,
    size: WIDE,
  });
  try {
    await terminal.wrote('mcp-server-past');
    await pause(2000);
    const times: number[] = [];
    for (let press = 0; press < PRESSES; press += 1) {
      await pause(150);
      times.push(
        await new Promise<number>((done, fail) => {
          const patience = setTimeout(() => fail(new Error('no answer to [')), 5000);
          const from = process.hrtime.bigint();
          terminal.onOutput = () => {
            terminal.onOutput = null;
            clearTimeout(patience);
            done(Number(process.hrtime.bigint() - from) / 1e6);
          };
          terminal.press('[');
        }),
      );
    }
    return times;
  } finally {
    await terminal.close();
  }
};

/** Seconds of `report` over the recorded day; a week takes seven times as long. */
const costOfReport = async ({ cli, commandOptions }: Stage): Promise<number> =>
  (await timeOfCommand(cli, ['report', '--since', '1d'], commandOptions)()) / 1000;

/** What the flight recorder takes on disk, and how soon the past is on the screen. */
export const benchPast = async (stage: Stage): Promise<Row[]> => {
  await stage.crowd.be(0);
  await stage.agent();
  const state = stage.sandbox.path('home/.local/state/reaptop');
  const now = Date.now();
  await record(state, now, DAY_MS);
  const day = bytesIn(recorderDirectory(state));
  const report = await costOfReport(stage);
  rmSync(recorderDirectory(state), { recursive: true });
  const moments = { oldest: 6.9 * DAY_MS, middle: 3.5 * DAY_MS, newest: 60_000 };
  const ago = (ms: number): string => new Date(now - ms).toISOString();
  // The oldest hour of all is read for the time line, whichever moment is opened.
  await recordWeek(state, now, [now - moments.oldest, now - moments.middle, now - 6 * DAY_MS - 23 * HOUR_MS]);

  const times = await interleaved(
    {
      live: start(stage, [], 'mcp-server-'),
      oldest: start(stage, ['--at', ago(moments.oldest)], 'mcp-server-past'),
      middle: start(stage, ['--at', ago(moments.middle)], 'mcp-server-past'),
      newest: start(stage, ['--at', ago(moments.newest)], 'mcp-server-past'),
    },
    9,
  );
  const live = median(times.live);
  const pressed = await steps(stage, ago(HOUR_MS));
  const rows = [
    valueRow(`recorder, a day of ${RELATED} related processes, 10 % replaced a minute`, day / MB, 'MB', 8),
    toldRow('report over that day (8,640 pictures)', `${report.toFixed(1)} s`),
    ...(['oldest', 'middle', 'newest'] as const).map(name =>
      valueRow(
        `TUI, --at in a recorded week (${name}), beyond the live start`,
        median(times[name]) - live,
        'ms',
        300,
        ` (live ${live.toFixed(0)} ms)`,
      ),
    ),
    valueRow(
      'TUI, one step [ in it, median',
      median(pressed),
      'ms',
      50,
      ` (p95 ${percentile(pressed, 95).toFixed(1)})`,
    ),
  ];
  rmSync(recorderDirectory(state), { recursive: true });
  return rows;
};
