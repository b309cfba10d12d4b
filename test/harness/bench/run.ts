import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { benchBlock } from './block.ts';
import { benchCalls } from './calls.ts';
import { benchCpu } from './cpu.ts';
import { benchDarwin } from './darwin.ts';
import { benchDirectories } from './directories.ts';
import { benchGrowth } from './growth.ts';
import { benchGuard } from './guard.ts';
import { benchHooks } from './hooks.ts';
import { benchKeys } from './keys.ts';
import { benchLoad } from './load.ts';
import { benchOnce } from './once.ts';
import { benchPaint } from './paint.ts';
import { benchPast } from './past.ts';
import { benchRefresh } from './refresh.ts';
import { failedRow, type Row, tableOf } from './report.ts';
import { benchRss } from './rss.ts';
import { Stage } from './stage.ts';
import { benchTree } from './tree.ts';

type Section = (stage: Stage) => Promise<Row[]>;

/** In the order in which they are run. */
const SECTIONS: Readonly<Record<string, Section>> = {
  once: benchOnce,
  directories: benchDirectories,
  tree: benchTree,
  refresh: benchRefresh,
  darwin: benchDarwin,
  calls: benchCalls,
  block: benchBlock,
  paint: benchPaint,
  keys: benchKeys,
  rss: benchRss,
  cpu: benchCpu,
  hooks: benchHooks,
  past: benchPast,
  guard: benchGuard,
  growth: benchGrowth,
  load: benchLoad,
};

/** What `--quick` measures; the rest needs minutes to be true. */
const QUICK: readonly string[] = ['once', 'tree', 'paint', 'keys', 'hooks', 'growth'];

const USAGE = `Usage: npm run bench -- [${Object.keys(SECTIONS).join('] [')}] [--minutes N] [--quick]`;

/** What the figures hold for. */
const conditions = (): string => {
  const [cpu] = cpus();
  const alone = process.env.REAPTOP_BENCH_INSIDE ?? 'beside others';
  return `Conditions: Node ${process.version}, ${cpus().length} × ${cpu?.model ?? 'CPU'}, load ${loadavg()[0]?.toFixed(1)}, ${alone}, ${new Date().toISOString()}; without NODE_EXTRA_CA_CERTS and NODE_OPTIONS.\n`;
};

export const main = async (args: string[], repository: string): Promise<number> => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { minutes: { type: 'string', default: '10' }, quick: { type: 'boolean', default: false } },
  });
  const unknown = positionals.find(name => !(name in SECTIONS));
  if (unknown !== undefined) {
    process.stderr.write(`There is no section ${unknown}.\n${USAGE}\n`);
    return 2;
  }
  const chosen = Object.entries(SECTIONS).filter(
    ([name]) =>
      positionals.includes(name) || (positionals.length === 0 && (!values.quick || QUICK.includes(name))),
  );
  const stage = new Stage(repository, { minutes: Number(values.minutes), quick: values.quick });
  // Whatever happens, nothing that was started here stays.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void stage.close().finally(() => process.exit(130)));
  const told = conditions();
  process.stderr.write(told);
  const rows: Row[] = [];
  try {
    for (const [name, section] of chosen) {
      process.stderr.write(`measuring ${name} …\n`);
      const found = await section(stage).catch((error: Error) => [failedRow(name, error.message)]);
      // Told at once as well: a run of half an hour may be cut off.
      process.stderr.write(`${tableOf(found)}\n`);
      rows.push(...found);
    }
  } finally {
    await stage.close();
  }
  process.stdout.write(`${told}${tableOf(rows)}\n`);
  return rows.some(row => row.ok === false) ? 1 : 0;
};
