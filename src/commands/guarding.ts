import { resolve } from 'node:path';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../collect/config.ts';
import { type Prepared, prepare } from '../collect/prepare.ts';
import type { Memory } from '../guard/memory.ts';
import { addressText, type MetricsAddress, parseAddress } from '../guard/metrics-address.ts';
import { FollowedArgument } from './completion/followed-argument.ts';
import { currentDirectory, workDirectory } from './current-directory.ts';
import { addCommonOptions, type CommonOptions, numberBetween, refuseElsewhere } from './options.ts';
import type { Output } from './output.ts';

const ACTIONS = ['install', 'uninstall', 'status', 'allow', 'print'] as const;
const PRINTED = ['rules', 'dashboard'] as const;

interface GuardFlags extends CommonOptions {
  readonly interval: number;
  readonly once?: boolean;
  readonly dryRun?: boolean;
  readonly grace: number;
  readonly metrics?: MetricsAddress;
}

export interface Guarding {
  readonly version: string;
  readonly out: Output;
  readonly err: Output;
  readonly finish: (code: number) => void;
  /** Aborted by TERM and the like; tells the program that a lost output is not what counts. */
  readonly interruption: () => AbortSignal;
}

/** A picture every ten seconds is enough for whoever looks later. */
const INTERVAL_SECONDS = 10;

const metricsAddress = (text: string): MetricsAddress => {
  const address = parseAddress(text);
  if (address === null) throw new InvalidArgumentError('It must be PORT or HOST:PORT.');
  return address;
};

/** `guard` and what belongs to it; each part is loaded when it is called. */
export const addGuardCommand = (program: Command, guarding: Guarding): void => {
  addCommonOptions(program.command('guard'), `time between looks (default: ${INTERVAL_SECONDS})`)
    .description('keeps the machine healthy by itself: looks, records, clears proven leaks by policy')
    .addArgument(new FollowedArgument('[action]', 'instead of running', { print: PRINTED }).choices(ACTIONS))
    .addArgument(new Argument('[what]', 'what to print').choices(PRINTED))
    .option('--once', 'one pass (two looks), for cron')
    .addOption(
      new Option(
        '--metrics <[host:]port>',
        'serve metrics for Prometheus; loopback unless a host is named',
      ).argParser(metricsAddress),
    )
    .addOption(
      new Option('--grace <seconds>', 'time between SIGTERM and SIGKILL')
        .default(5)
        .argParser(numberBetween(0, 3600)),
    )
    .option('--dry-run', 'install: only print the file')
    .action(async (action: string | undefined, what: string | undefined, _: unknown, command: Command) => {
      refuseElsewhere(command);
      const flags: GuardFlags = {
        interval: INTERVAL_SECONDS,
        ...command.optsWithGlobals<Omit<GuardFlags, 'interval'>>(),
      };
      guarding.finish(await perform(action, what, flags, guarding));
    });
};

const perform = async (
  action: string | undefined,
  what: string | undefined,
  flags: GuardFlags,
  guarding: Guarding,
): Promise<number> => {
  if ((action === 'print') !== (what !== undefined))
    throw new UsageError('guard print takes one of: rules, dashboard.');
  if (action === undefined) return run(flags, guarding);
  const { out, err } = guarding;
  const guard = await import('./guard-actions.ts');
  if (action === 'print') return guard.print(what as (typeof PRINTED)[number], out);
  const place = guard.place(process.env);
  if (action === 'allow') return guard.allowGuard({ directory: place.directory, out });
  if (action === 'status') {
    const { system } = await prepare(flags, process.env, currentDirectory());
    const found = { system, directory: place.directory, out, now: Date.now() };
    return guard.status(found, { json: flags.json === true });
  }
  const options = {
    dryRun: flags.dryRun === true,
    extra: action === 'install' ? wordsOf(flags, workDirectory()) : [],
  };
  const dependencies = { env: process.env, out, err };
  return action === 'install' ? guard.install(options, dependencies) : guard.uninstall(options, dependencies);
};

/** What was said to `guard install` is said to every guard that it starts, which starts in another directory. */
export const wordsOf = (
  { metrics, interval, config, grace, root, platform, poll }: GuardFlags,
  cwd: string,
): string[] => [
  ...(metrics === undefined ? [] : ['--metrics', addressText(metrics)]),
  ...(interval === INTERVAL_SECONDS ? [] : ['--interval', String(interval)]),
  ...(grace === 5 ? [] : ['--grace', String(grace)]),
  ...(config === undefined ? [] : ['--config', resolve(cwd, config)]),
  ...(platform === 'auto' ? [] : ['--platform', platform]),
  ...(poll === true ? ['--poll'] : []),
  ...(root === undefined ? [] : ['--root', ...root.map(directory => resolve(cwd, directory))]),
];

const run = async (flags: GuardFlags, { version, out, err, interruption }: Guarding): Promise<number> => {
  let memory: Memory | null = null;
  const recall = { recall: (look: Parameters<Memory['recall']>[0]) => memory?.recall(look) ?? NOTHING };
  const prepared: Prepared = await prepare(flags, process.env, currentDirectory(), recall);
  const { runGuard, statePlace } = await import('./guard.ts');
  return runGuard(
    {
      prepared,
      remember: it => {
        memory = it;
      },
      place: statePlace(process.env),
      out,
      err,
      abort: interruption(),
    },
    {
      once: flags.once === true,
      intervalSeconds: flags.interval,
      graceSeconds: flags.grace,
      metrics: flags.metrics ?? null,
      poll: flags.poll === true,
      version,
    },
  );
};

const NOTHING = { entries: [], warnings: [] } as const;
