import { median, pause, usageOf } from './measure.ts';
import { type Row, toldRow, valueRow } from './report.ts';
import type { Stage } from './stage.ts';
import { BenchTerminal, WIDE } from './terminal.ts';

const SAMPLE_MS = 5000;
const MB = 1_000_000;

/** Memory of the program and all its descendants while it shows changing rows. */
export const benchRss = async (stage: Stage): Promise<Row[]> => {
  await stage.crowd.be(5000);
  await stage.agent();
  await stage.earlierScreen();
  stage.stir(true);
  const terminal = new BenchTerminal(stage.cli, ['--interval', '2'], {
    ...stage.commandOptions,
    size: WIDE,
  });
  const samples: number[] = [];
  try {
    await terminal.wrote('restless');
    const end = Date.now() + stage.minutes * 60_000;
    while (Date.now() < end) {
      await pause(SAMPLE_MS);
      samples.push(usageOf(terminal.pid).rss / MB);
    }
  } finally {
    stage.stir(false);
    await terminal.close();
  }
  const half = samples.slice(samples.length / 2);
  const part = Math.ceil(half.length / 5);
  const growth = median(half.slice(-part)) - median(half.slice(0, part));
  const minutes = stage.minutes / 2;
  const limit = Number.parseInt(process.versions.node, 10) <= 20 ? 88 : 100;
  const growthOver = `TUI, growth over the last ${minutes} min`;
  return [
    valueRow(
      `TUI, RSS after ${stage.minutes} min, 5,000 processes`,
      samples.at(-1) ?? Number.NaN,
      'MB',
      limit,
    ),
    minutes < 5
      ? toldRow(growthOver, `${growth.toFixed(1)} MB: so soon a collection of garbage more or less decides`)
      : valueRow(growthOver, growth, 'MB', (2 * minutes) / 5),
  ];
};
