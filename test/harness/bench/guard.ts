import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { until } from '../../support/until.ts';
import { pause, usageOf } from './measure.ts';
import { type Row, skippedRow, toldRow, valueRow } from './report.ts';
import type { Stage } from './stage.ts';

const WINDOW_MS = 60_000;
/** After its start: its first looks, its code compiled. */
const WARM_MS = 20_000;
const INTERVAL_SECONDS = 10;
const TICK_MS = 10;
const MB = 1_000_000;

/** It may be somebody's machine: guard looks, remembers and plans as ever, and ends nothing. */
const ENDS_NOTHING = { policy: { leaks: false, staleFiles: false, sweep: false } };

const ended = (child: ReturnType<typeof spawn>): Promise<unknown> =>
  child.exitCode === null && child.signalCode === null
    ? new Promise(done => child.once('exit', done))
    : Promise.resolve();

/** guard among 1,000 processes, with atop's own recorder beside it at the same interval. */
export const benchGuard = async (stage: Stage): Promise<Row[]> => {
  await stage.crowd.be(1000);
  await stage.agent();
  const { sandbox, commandOptions } = stage;
  const config = sandbox.write('guard.json', JSON.stringify(ENDS_NOTHING));
  const options = { ...commandOptions, stdio: 'ignore' } as const;
  const interval = String(INTERVAL_SECONDS);
  const guard = spawn(stage.cli, ['guard', '--config', config, '--interval', interval], options);
  const hasAtop = spawnSync('atop', ['-V']).error === undefined;
  const atop = hasAtop ? spawn('atop', ['-w', sandbox.path('atop.log'), interval], options) : null;
  try {
    await until('the first look', () => existsSync(sandbox.path('home/.local/state/reaptop/latest.json')), {
      timeoutMs: 60_000,
    });
    await pause(WARM_MS);
    const before = [guard, atop].map(child => (child === null ? 0 : usageOf(child.pid!).ticks));
    await pause(WINDOW_MS);
    const after = [guard, atop].map(child => (child === null ? null : usageOf(child.pid!)));
    const percent = (at: number): number => ((after[at]!.ticks - before[at]!) * TICK_MS * 100) / WINDOW_MS;
    return [
      valueRow('guard, CPU over 60 s with 1,000 processes', percent(0), '% of a core', 0.5),
      valueRow('guard, RSS then', after[0]!.rss / MB, 'MB', 65),
      atop === null
        ? skippedRow('atop -w beside it', 'not installed: apt-get install atop')
        : toldRow('atop -w beside it, at the same 10 s', `${percent(1).toFixed(1)} % of a core`),
    ];
  } finally {
    for (const child of [guard, atop]) child?.kill('SIGTERM');
    await Promise.all([guard, atop].map(child => (child === null ? null : ended(child))));
  }
};
