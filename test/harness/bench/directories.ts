import { mkdirSync, rmSync } from 'node:fs';
import { median, timeOfCommand } from './measure.ts';
import { type Row, valueRow } from './report.ts';
import type { Stage } from './stage.ts';

const COUNTS = [500, 1000, 2000, 4000] as const;
/** Whatever a repository holds, the answer comes within this time. */
const LIMIT_SECONDS = 3;

/** What an orchestrated agent leaves in its task directory, as the seeds describe it. */
const fill = (stage: Stage, from: number, to: number): void => {
  for (let n = from; n < to; n += 1) {
    const directory = `many/specs/${n}_task`;
    mkdirSync(stage.sandbox.path(directory), { recursive: true });
    stage.sandbox.write(
      `${directory}/.agent-progress.json`,
      JSON.stringify({ agent_id: `bench-${n}`, status: 'working', last_update: new Date().toISOString() }),
    );
    stage.sandbox.write(
      `${directory}/.postflight-pending`,
      JSON.stringify({ session_id: `bench-${n}`, reason: 'bench' }),
    );
  }
};

/** `--once` on a workspace with thousands of task directories: linear, or a large project is never looked at. */
export const benchDirectories = async (stage: Stage): Promise<Row[]> => {
  await stage.crowd.be(0);
  const root = stage.sandbox.path('many');
  const once = timeOfCommand(stage.cli, ['--once', '--root', root], stage.commandOptions);
  const seconds: number[] = [];
  let made = 0;
  for (const count of COUNTS) {
    fill(stage, made, count);
    made = count;
    const runs: number[] = [];
    for (let run = 0; run < 3; run += 1) runs.push(await once());
    seconds.push(median(runs) / 1000);
  }
  rmSync(root, { recursive: true, force: true });
  const told = COUNTS.map((count, i) => `${seconds[i]!.toFixed(2)} s with ${count}`).join(', ');
  return [valueRow('--once, 4,000 task directories', seconds.at(-1)!, 's', LIMIT_SECONDS, ` (${told})`)];
};
