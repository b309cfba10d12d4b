import { readFileSync } from 'node:fs';
import { median, pause } from './measure.ts';
import { type Row, valueRow } from './report.ts';
import type { Stage } from './stage.ts';
import { BenchTerminal, WIDE } from './terminal.ts';

const RUNS = 5;
const RUN_MS = 20_000;

/** The histogram holds the time from one tick to the next: what is over the resolution is the block. */
const RESOLUTION_MS = 1;

const preload = (result: string): string => `
const { monitorEventLoopDelay } = require('node:perf_hooks');
const delay = monitorEventLoopDelay({ resolution: ${RESOLUTION_MS} });
delay.enable();
process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(result)}, String(delay.max / 1e6)));
`;

/** The longest time in which no key would have been heard, from the first full scan on. */
export const benchBlock = async (stage: Stage): Promise<Row[]> => {
  await stage.crowd.be(5000);
  await stage.agent();
  stage.stir(true);
  const result = stage.sandbox.path('block');
  const script = stage.sandbox.write('bin/block.cjs', preload(result));
  const { env, cwd } = stage.commandOptions;
  const run = async (ms: number): Promise<number> => {
    const terminal = new BenchTerminal(stage.cli, [], {
      cwd,
      env: { ...env, NODE_OPTIONS: `--require=${script}` },
      size: WIDE,
    });
    await terminal.wrote('restless');
    await pause(ms);
    await terminal.quit();
    return Number(readFileSync(result, 'utf8')) - RESOLUTION_MS;
  };
  await run(0); // leaves the code cache; not counted
  const longest: number[] = [];
  while (longest.length < RUNS) longest.push(await run(RUN_MS));
  stage.stir(false);
  const note = ` (median of ${longest.map(ms => ms.toFixed(0)).join(', ')})`;
  return [valueRow('TUI, longest block of the event loop, 5000 processes', median(longest), 'ms', 60, note)];
};
