import { uptime } from 'node:os';
import { leftSomething } from '../act/left-something.ts';
import { takeRunLock } from '../act/record/lock.ts';
import { followedFiles, scannedFiles } from '../collect/agent-files.ts';
import type { Prepared } from '../collect/prepare.ts';
import { Guard } from '../guard/guard.ts';
import { Memory } from '../guard/memory.ts';
import type { MetricsAddress } from '../guard/metrics-address.ts';
import { serveMetrics } from '../guard/metrics-server.ts';
import type { LookReport } from '../guard/options.ts';
import { readOomKills } from '../observe/procfs/oom-kills.ts';
import type { StatePlace } from '../observe/state/state-directory.ts';

export { statePlace } from '../observe/state/state-directory.ts';

import { EXIT_FAILURE, EXIT_SURVIVED } from './exit-codes.ts';
import type { Output } from './output.ts';

export interface GuardRunOptions {
  readonly once: boolean;
  readonly intervalSeconds: number;
  readonly graceSeconds: number;
  readonly metrics: MetricsAddress | null;
  readonly poll: boolean;
  readonly version: string;
}

export interface GuardDependencies {
  readonly prepared: Prepared;
  /** Takes the memory that the collector asks for what others wrote down. */
  readonly remember: (memory: Memory) => void;
  readonly place: StatePlace;
  readonly out: Output;
  readonly err: Output;
  readonly abort: AbortSignal;
}

/** `/-/healthy`: the last look is younger than three intervals. */
const HEALTHY_INTERVALS = 3;

/** The unattended half, until it is told to stop; with `once`, one pass. */
export const runGuard = async (
  dependencies: GuardDependencies,
  options: GuardRunOptions,
): Promise<number> => {
  const { prepared, place, out, err, abort } = dependencies;
  const { system, config, collectorWith } = prepared;
  const { directory } = place;
  const lock = await takeRunLock(system, 'guard', { directory, kind: 'guard' });
  if (lock.status === 'held') {
    err.write(`reaptop: ${lock.why}\n`);
    return EXIT_FAILURE;
  }
  for (const warning of [place.warning, lock.warning])
    if (warning !== null) err.write(`reaptop: ${warning}\n`);
  const files = options.once
    ? scannedFiles(config)
    : await followedFiles(config, { poll: options.poll, onChange: () => {} });
  const memory = new Memory(system, directory, system.backend === 'procfs' ? readOomKills : undefined);
  dependencies.remember(memory);
  const metrics = await startMetrics(options, () => system.backend);
  let survived = false;
  try {
    if (metrics !== null) out.write(`metrics: ${metrics.url}\n`);
    const guard = new Guard({
      collector: collectorWith(files),
      system,
      config,
      intervalSeconds: options.intervalSeconds,
      graceMs: options.graceSeconds * 1000,
      directory,
      memory,
      abort,
      say: line => out.write(`${line}\n`),
      onLook: look => metrics?.note(look),
      onOutcomes: outcomes => {
        survived ||= leftSomething(outcomes);
      },
      uptime,
    });
    if (options.once) await guard.once();
    else await guard.run();
    return survived && options.once ? EXIT_SURVIVED : 0;
  } finally {
    await metrics?.close();
    await files.close();
    system.close();
    lock.release();
  }
};

/** prom-client is loaded only for those who want metrics. */
const startMetrics = async (
  { metrics: address, version, intervalSeconds }: GuardRunOptions,
  platform: () => string,
) => {
  if (address === null) return null;
  const { Metrics } = await import('../guard/metrics.ts');
  const metrics = new Metrics({ version, platform: platform() });
  let lookedAt = performance.now();
  const isHealthy = (): boolean => performance.now() - lookedAt <= intervalSeconds * 1000 * HEALTHY_INTERVALS;
  const server = await serveMetrics(metrics.registry, address, isHealthy).catch(
    (error: NodeJS.ErrnoException) => {
      throw new Error(
        `metrics cannot be served on ${address.host}:${address.port} (${error.code ?? error.message})`,
      );
    },
  );
  return {
    ...server,
    note: (look: LookReport): void => {
      if (look.snapshot !== null) lookedAt = performance.now();
      metrics.update(look);
    },
  };
};
