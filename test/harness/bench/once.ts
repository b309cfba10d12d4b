import { rmSync } from 'node:fs';
import { isRunning } from '../../support/proc.ts';
import { until } from '../../support/until.ts';
import { cpuOfCommand, interleaved, median, timeOfCommand } from './measure.ts';
import { type Row, ratioRow } from './report.ts';
import type { Stage } from './stage.ts';

/** What Node itself cannot do without: its start, and two files of each process, with nothing made of them. */
const BARE_LOOK = `
  const fs = require('node:fs');
  const buffer = Buffer.allocUnsafe(65536);
  for (const pid of fs.readdirSync('/proc'))
    if (/^\\d+$/.test(pid))
      for (const name of ['stat', 'cmdline'])
        try {
          const fd = fs.openSync('/proc/' + pid + '/' + name);
          fs.readSync(fd, buffer);
          fs.closeSync(fd);
        } catch {}`;

const WORDS = { few: 2, many: 45 } as const;

/** A hundred programs with so many paths among their words, as builds and language servers have them. */
const withPaths = async <T>(stage: Stage, count: number, measure: () => Promise<T>): Promise<T> => {
  const pids: number[] = [];
  for (let n = 0; n < 100; n += 1) {
    const words = Array.from(
      { length: count },
      (_, at) => `/home/somebody/projects/library-${n}/node_modules/@scope/package-${at}/dist/index.js`,
    );
    pids.push(stage.sandbox.start(['perl', '-e', 'sleep 3600', ...words]).pid);
  }
  try {
    return await measure();
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await until('them to end', () => pids.every(pid => !isRunning(pid)));
  }
};

/** CPU of `--once` against a Node that does nothing; against `ps` by the clock. */
export const benchOnce = async (stage: Stage): Promise<Row[]> => {
  const { cli, commandOptions, crowd } = stage;
  const rounds = stage.quick ? 11 : 41;
  const once = cpuOfCommand(cli, ['--once'], commandOptions);
  const node = cpuOfCommand(process.execPath, ['-e', '0'], commandOptions);
  const first = (): number | Promise<number> => {
    rmSync(stage.sandbox.path('home/.cache'), { recursive: true, force: true });
    return once();
  };
  const few = await interleaved({ once, node }, rounds);
  const cold = await interleaved({ first, node }, stage.quick ? 3 : 11);
  const words = {
    few: await withPaths(stage, WORDS.few, async () => interleaved({ once }, rounds)),
    many: await withPaths(stage, WORDS.many, async () => interleaved({ once }, rounds)),
  };
  await stage.user();
  const used = await interleaved({ once, node }, rounds);
  await stage.bare();

  const wall = timeOfCommand(cli, ['--once'], commandOptions);
  const ps = timeOfCommand('ps', ['auxf'], commandOptions);
  await crowd.be(5000);
  const bare = timeOfCommand(process.execPath, ['-e', BARE_LOOK], commandOptions);
  const many = await interleaved({ wall, ps, bare }, stage.quick ? 5 : 21);
  // As with twenty hooks: how much of it is ours, this tells.
  const floor = `; Node reading two files of each: ${median(many.bare).toFixed(1)} ms`;
  await crowd.be(5000, 'orphans');
  const worst = await interleaved({ wall, ps }, stage.quick ? 3 : 11);
  const row = (what: string, ours: readonly number[], theirs: readonly number[], limit: number, note = '') =>
    ratioRow(what, { ours: median(ours), theirs: median(theirs), limit, note });
  const rows = [
    row('--once, bare machine / node -e 0, CPU', few.once, few.node, 2),
    row('--once, a user’s machine / node -e 0, CPU', used.once, used.node, 2.6),
    row('--once, first run / node -e 0, CPU', cold.first, cold.node, 3.5),
    row('--once, 100 × 45 paths / 100 × 2, CPU', words.many.once, words.few.once, 1.3),
    row('--once, 5,000 more processes / ps auxf, wall', many.wall, many.ps, 0.75, floor),
    row('the same, all 5,000 orphans of our own user', worst.wall, worst.ps, 0.95),
  ];
  if (stage.quick) return rows;
  await crowd.be(20_000);
  const huge = await interleaved({ wall, ps }, 5);
  await crowd.be(0);
  return [...rows, row('--once, 20,000 more processes / ps auxf, wall', huge.wall, huge.ps, 0.4)];
};
