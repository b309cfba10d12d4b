import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import psList from 'ps-list';
import { Collector } from '../../../src/engine/collector.ts';
import { loadConfig } from '../../../src/engine/load-config.ts';
import { parseStat } from '../../../src/observe/procfs/stat.ts';
import { procfsSystem } from '../../../src/observe/procfs/system.ts';
import { type Cost, costOf, median, pause } from './measure.ts';
import { type Row, ratioRow } from './report.ts';
import type { Stage } from './stage.ts';

const ROUNDS = 25;
const INTERVAL_MS = 2000;
const REST_MS = 400;
const WARM_LOOKS = 100;

const buffer = Buffer.allocUnsafe(64 * 1024);

const read = (path: string): number => {
  try {
    const fd = openSync(path, 'r');
    try {
      return readSync(fd, buffer, 0, buffer.length, null);
    } finally {
      closeSync(fd);
    }
  } catch {
    return 0; // vanished
  }
};

/** The straightforward way: stat and cmdline of every process, as bytes into one buffer, every time. */
const fullScan = (): unknown[] => {
  const table: unknown[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d/.test(name)) continue;
    const stat = parseStat(buffer, read(`/proc/${name}/stat`));
    const argv = buffer.toString('utf8', 0, read(`/proc/${name}/cmdline`)).split('\0');
    table.push({ ...stat, argv });
  }
  return table;
};

/**
 * One refresh of a program that has been running for a while, at its real interval (the slices depend on it).
 * CPU decides, that of child processes included: others may be using the machine. Wall time is told as well.
 */
export const benchRefresh = async (stage: Stage): Promise<Row[]> => {
  await stage.crowd.be(5000);
  await stage.agent();
  const { env, cwd } = stage.commandOptions;
  const system = procfsSystem();
  const collector = new Collector({ system, config: await loadConfig(env, undefined), env, cwd });
  const works = { refresh: () => collector.collect(), scan: fullScan, list: () => psList() };
  // A program that stays open for days has been compiled by then.
  for (let warm = 0; warm < WARM_LOOKS; warm += 1) await works.refresh();
  for (let warm = 0; warm < 5; warm += 1) for (const work of [works.scan, works.list]) await work();

  const costs: Record<keyof typeof works, Cost[]> = { refresh: [], scan: [], list: [] };
  const reread: number[] = [];
  let next = Date.now() + INTERVAL_MS;
  for (let round = 0; round < ROUNDS; round += 1) {
    await pause(next - Date.now());
    next = Date.now() + INTERVAL_MS;
    costs.refresh.push(await costOf(works.refresh));
    reread.push(system.table.cost.reread);
    // Each from rest, as a refresh is: the caches of the processor have turned to others by then.
    await pause(REST_MS);
    costs.scan.push(await costOf(works.scan));
    await pause(REST_MS);
    costs.list.push(await costOf(works.list));
  }
  const { totals } = await collector.collect();
  if (totals.related < 50) throw new Error(`only ${totals.related} related processes were recognised`);

  const cpu = (name: keyof typeof works): number => median(costs[name].map(cost => cost.cpu));
  const wall = (name: keyof typeof works): number => median(costs[name].map(cost => cost.wall));
  const note = (other: keyof typeof works): string =>
    ` CPU, ${median(reread)} re-read; wall ${(wall('refresh') / wall(other)).toFixed(3)} ×`;
  return [
    ratioRow('steady refresh, 5,000 + 50 processes / full scan', {
      ours: cpu('refresh'),
      theirs: cpu('scan'),
      limit: 0.18,
      note: note('scan'),
    }),
    ratioRow(`steady refresh, 5,000 + 50 processes / ps-list`, {
      ours: cpu('refresh'),
      theirs: cpu('list'),
      limit: 0.04,
      note: note('list'),
    }),
  ];
};
