import { uptime } from 'node:os';
import { leftSomething } from '../act/execute.ts';
import { takeRunLock } from '../act/record/run-lock.ts';
import { followedFiles, scannedFiles } from '../engine/agent-files.ts';
import type { Prepared } from '../engine/prepare.ts';
import { Guard, type LookReport } from '../guard/guard.ts';
import { Memory } from '../guard/memory.ts';
import { serveMetrics } from '../guard/metrics.ts';
import type { MetricsAddress } from '../guard/metrics-address.ts';
import { readOomKills } from '../observe/one-process.ts';
import type { StatePlace } from '../observe/state/state-directory.ts';

import { EXIT_FAILURE, EXIT_SURVIVED, type Output } from '../output.ts';

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
    else {
      out.write(
        `guard samples every ${options.intervalSeconds} s and ends proven leaks; Ctrl-C stops it, reaptop guard status reports.\n`,
      );
      await guard.run();
    }
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
