import { scannedFiles } from '../collect/agent-files.ts';
import type { Kind } from '../model/kind.ts';
import type { ActingOptions } from './options.ts';
import { wantsColor } from './paint.ts';
import { prepared } from './prepared.ts';

/** Where the words go. */
export interface Terminal {
  readonly out: { write(text: string): void; readonly isTTY?: boolean };
  readonly err: { write(text: string): void; readonly isTTY?: boolean };
  readonly width: number;
}

export type SweepFlags = ActingOptions & { readonly retention: number; readonly still: number };

export interface CleanFlags extends ActingOptions {
  readonly ageThreshold: number;
  readonly kind?: Kind[];
  readonly suspects?: boolean;
  readonly pid?: { pid: number; start?: string }[];
  readonly zombieParents?: boolean;
}

const isForced = (flags: ActingOptions): boolean => flags.force === true || flags.yes === true;

/** What `clean` and `sweep` share. */
const actingOptions = (flags: ActingOptions, width: number) => ({
  force: isForced(flags),
  dryRun: flags.dryRun === true,
  graceSeconds: flags.grace,
  verbose: flags.verbose === true,
  json: flags.json === true,
  failOn: flags.failOn ?? null,
  width,
  color: wantsColor(process.stdout, process.env, !flags.color),
});

export const willAct = (flags: ActingOptions): boolean => isForced(flags) && flags.dryRun !== true;

/**
 * Ctrl-C and the like end a run between two steps. However often they come: what was begun is still written down,
 * which takes a moment, and the lock is released.
 */
export const interruption = (): AbortSignal => {
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)
    process.on(signal, () => abort.abort());
  return abort.signal;
};

export const runClean = async (flags: CleanFlags, { out, err, width }: Terminal): Promise<number> => {
  const { collectorWith, system, config } = await prepared(flags);
  const { clean } = await import('./clean.ts');
  return clean(
    {
      // A stream that grows may be the only sign that an agent is at work.
      collector: collectorWith(scannedFiles(config)),
      system,
      config,
      out,
      err,
      abort: interruption(),
    },
    {
      ...actingOptions(flags, width),
      ageThresholdMinutes: flags.ageThreshold,
      kinds: flags.kind ?? [],
      suspects: flags.suspects === true,
      pids: flags.pid ?? [],
      zombieParents: flags.zombieParents === true,
    },
  );
};

export const runSweep = async (flags: SweepFlags, { out, err, width }: Terminal): Promise<number> => {
  const { collectorWith, system, config } = await prepared(flags);
  const { sweep } = await import('./sweep.ts');
  return sweep(
    {
      collector: collectorWith(scannedFiles(config)),
      system,
      env: process.env,
      out,
      err,
      abort: interruption(),
    },
    { ...actingOptions(flags, width), retentionDays: flags.retention, stillSeconds: flags.still },
  );
};
