import { memoryOf } from '../model/process.ts';
import type { JudgedProcess, Snapshot } from '../model/snapshot.ts';
import type { ActLog } from './act-log.ts';
import type { LiveEngineOptions } from './engine-options.ts';
import type { LiveState } from './live.ts';

const LOG_AT_FIRST = 20;

/** What a point of the header's sparkline stands for. */
export const memoryTotal = (snapshot: Snapshot): number =>
  snapshot.processes.filter((p: JudgedProcess) => p.related).reduce((sum, p) => sum + memoryOf(p.facts), 0);

/** What is shown before the second look. */
export const firstState = (
  { config, intervalSeconds, system, log }: LiveEngineOptions,
  snapshot: Snapshot,
  acts: ActLog | null,
): LiveState => ({
  snapshot,
  config,
  memory: [memoryTotal(snapshot)],
  intervalSeconds,
  slowedDown: false,
  readOnly: system.readOnly,
  running: null,
  log: log ?? acts?.next().slice(-LOG_AT_FIRST) ?? [],
  error: null,
});
