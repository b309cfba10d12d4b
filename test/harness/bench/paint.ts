import { until } from '../../support/until.ts';
import { interleaved, median, timeOfCommand } from './measure.ts';
import { type Row, ratioRow } from './report.ts';
import type { Stage } from './stage.ts';
import { BenchTerminal, WIDE } from './terminal.ts';

/** From the start of the program to a process row on the screen. */
export const benchPaint = async (stage: Stage): Promise<Row[]> => {
  await stage.crowd.be(0);
  await stage.agent();
  const { commandOptions, cli } = stage;
  const node = timeOfCommand(process.execPath, ['-e', '0'], commandOptions);
  const paint = async (): Promise<number> => {
    const from = process.hrtime.bigint();
    let painted: bigint | null = null;
    const terminal = new BenchTerminal(cli, [], { ...commandOptions, size: WIDE });
    terminal.onOutput = data => {
      if (painted === null && data.includes('mcp-server-')) painted = process.hrtime.bigint();
    };
    await until('the first paint', () => painted !== null);
    await terminal.close();
    return Number(painted! - from) / 1e6;
  };
  const { ours, theirs } = await interleaved({ ours: paint, theirs: node }, stage.quick ? 5 : 15);
  return [
    ratioRow('TUI, start to first paint with data / node -e 0', {
      ours: median(ours),
      theirs: median(theirs),
      limit: 4.2,
    }),
  ];
};
