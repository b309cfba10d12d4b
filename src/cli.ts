import { Command, CommanderError, Option } from 'commander';
import { version } from '../package.json';
import { NO_FILES, scannedFiles } from './collect/agent-files.ts';
import { UsageError, userConfigPath } from './collect/config.ts';
import { type Flags, prepare } from './collect/prepare.ts';
import { currentDirectory } from './commands/current-directory.ts';
import { EXIT_FAILURE, EXIT_USAGE } from './commands/exit-codes.ts';
import { addGuardCommand } from './commands/guarding.ts';
import { addInsideCommands } from './commands/inside.ts';
import { once } from './commands/once.ts';
import {
  type ActingOptions,
  addActingOptions,
  addCleanOptions,
  addCommonOptions,
  addSweepOptions,
  type CommonOptions,
  parseAt,
} from './commands/options.ts';
import { losable } from './commands/output.ts';
import { wantsColor } from './commands/paint.ts';
import { rememberedLineage } from './commands/remembered.ts';
import { addTellingCommands } from './commands/telling.ts';
import type { Kind } from './model/kind.ts';
import { visible } from './model/text.ts';

/** Wide enough to read, narrow enough for a paste; used when nobody says how wide the output is. */
const DEFAULT_WIDTH = 120;

interface MainOptions extends CommonOptions {
  readonly once?: boolean;
  readonly from?: string;
  readonly demo?: boolean;
  readonly line?: true | 'tmux' | 'claude';
  readonly at?: ReturnType<typeof parseAt>;
  readonly mouse: boolean;
  readonly bell?: boolean;
}

const widthOf = (env: NodeJS.ProcessEnv): number => {
  const told = Number(env.COLUMNS);
  if (Number.isInteger(told) && told >= 20) return told;
  return process.stdout.columns ?? DEFAULT_WIDTH;
};

const err = losable(process.stderr);
const out = losable(process.stdout, why => err.write(`reaptop: the output could not be written: ${why}\n`));
/** The exit code tells what was done to the machine: a lost output does not change it. */
let acted = false;

const prepared = (flags: Flags) =>
  prepare(flags, process.env, currentDirectory(), rememberedLineage(process.env));

const runMain = async (options: MainOptions): Promise<number> => {
  if (options.at !== undefined && (options.from !== undefined || options.demo === true))
    throw new UsageError('--at shows what guard recorded: it goes with neither --from nor --demo.');
  const color = wantsColor(process.stdout, process.env, !options.color);
  const liveOptions = {
    intervalSeconds: options.interval,
    all: options.all === true,
    color,
    mouse: options.mouse,
    bell: options.bell === true,
  };
  const style = options.line === true ? 'tmux' : options.line;
  const headless =
    style !== undefined || options.once === true || options.json === true || options.failOn !== undefined;
  const interactive = process.stdout.isTTY === true && (process.stdin.isTTY === true || options.from === '-');
  if (!headless && interactive) {
    const { demo, live } = await import('./commands/live.ts');
    if (options.demo === true) return demo(liveOptions, process.env);
    return live(
      await prepared(options),
      {
        ...liveOptions,
        poll: options.poll === true,
        at: options.at,
        configPath: options.config ?? userConfigPath(process.env),
      },
      process.env,
    );
  }
  if (!headless) err.write('reaptop: no terminal here, so this is the text of --once\n');
  const onceOptions = {
    all: options.all === true,
    json: options.json === true,
    width: widthOf(process.env),
    color,
    failOn: options.failOn ?? null,
  };
  if (options.at !== undefined) {
    const { onceAt } = await import('./commands/past.ts');
    return onceAt(options.at, onceOptions, process.env, out);
  }
  const { config, collectorWith } = await prepared(options);
  if (style !== undefined) {
    const { line } = await import('./commands/line/line.ts');
    return line(collectorWith(scannedFiles(config)), { style, failOn: options.failOn ?? null }, out);
  }
  return once(collectorWith(scannedFiles(config)), onceOptions, out);
};

interface CleanFlags extends ActingOptions {
  readonly ageThreshold: number;
  readonly kind?: Kind[];
  readonly suspects?: boolean;
  readonly pid?: { pid: number; start?: string }[];
  readonly zombieParents?: boolean;
}

const isForced = (flags: ActingOptions): boolean => flags.force === true || flags.yes === true;

/** What `clean` and `sweep` share. */
const actingOptions = (flags: ActingOptions) => ({
  force: isForced(flags),
  dryRun: flags.dryRun === true,
  graceSeconds: flags.grace,
  verbose: flags.verbose === true,
  json: flags.json === true,
  failOn: flags.failOn ?? null,
  width: widthOf(process.env),
  color: wantsColor(process.stdout, process.env, !flags.color),
});

const willAct = (flags: ActingOptions): boolean => isForced(flags) && flags.dryRun !== true;

/**
 * Ctrl-C and the like end a run between two steps. However often they come: what was begun is still written down,
 * which takes a moment, and the lock is released.
 */
const interruption = (acts: boolean): AbortSignal => {
  acted = acts;
  const abort = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)
    process.on(signal, () => abort.abort());
  return abort.signal;
};

const runClean = async (flags: CleanFlags): Promise<number> => {
  const { collectorWith, system, config } = await prepared(flags);
  const { clean } = await import('./commands/clean.ts');
  return clean(
    {
      collector: collectorWith(NO_FILES),
      system,
      config,
      out,
      err,
      abort: interruption(willAct(flags)),
    },
    {
      ...actingOptions(flags),
      ageThresholdMinutes: flags.ageThreshold,
      kinds: flags.kind ?? [],
      suspects: flags.suspects === true,
      pids: flags.pid ?? [],
      zombieParents: flags.zombieParents === true,
    },
  );
};

const runSweep = async (flags: ActingOptions & { readonly retention: number }): Promise<number> => {
  const { collectorWith, system, config } = await prepared(flags);
  const { sweep } = await import('./commands/sweep.ts');
  return sweep(
    {
      collector: collectorWith(scannedFiles(config)),
      system,
      env: process.env,
      out,
      err,
      abort: interruption(willAct(flags)),
    },
    { ...actingOptions(flags), retentionDays: flags.retention },
  );
};

const buildProgram = (finish: (code: number) => void): Command => {
  const program = addCommonOptions(new Command('reaptop'))
    .description(
      'Shows what AI coding agents left running, says what is leaked and why, and clears it without hurting live work.',
    )
    .version(version, '-V, --version', 'the version')
    .helpOption('-h, --help', 'this help')
    .helpCommand('help [command]', 'the help of a command')
    .option('--once', 'one snapshot to stdout, then exit')
    .option(
      '--from <file>',
      'judge a recorded table: our JSON or a ps listing with a header; - is standard input',
    )
    .addOption(
      new Option('--line [style]', 'with --once: one line for a status bar; claude reads its JSON').choices([
        'tmux',
        'claude',
      ]),
    )
    .option('--demo', 'the live screen on an invented machine')
    .option('--bell', 'ring when a finding becomes critical or an agent waits for you')
    .option('--no-mouse', 'leave the mouse to the terminal')
    .option(
      '--at <time>',
      'what guard recorded then: HH:MM, -2h, an ISO date, boot or oom; read-only',
      parseAt,
    )
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .showHelpAfterError(false)
    .allowExcessArguments(false)
    .action(async (options: MainOptions) => finish(await runMain(options)));
  addCleanOptions(addActingOptions(addCommonOptions(program.command('clean'))))
    .description('ends proven leaks; prints the plan, acts only with --force')
    .action(async (_: unknown, command: Command) => finish(await runClean(command.optsWithGlobals())));
  addSweepOptions(addActingOptions(addCommonOptions(program.command('sweep'))))
    .description('clears what finished agents left: sessions, logs, prompts, locks; acts only with --force')
    .action(async (_: unknown, command: Command) => finish(await runSweep(command.optsWithGlobals())));
  addGuardCommand(program, { version, out, err, finish, interruption: () => interruption(true) });
  addInsideCommands(program, { out, err, finish });
  addTellingCommands(program, { version, out, width: () => widthOf(process.env), finish });
  return program;
};

/** The line of the command that was called, `clean` among the words of `reaptop clean --bogus`. */
const usageLine = (program: Command): string => {
  const called = program.commands.find(command => process.argv.includes(command.name()));
  return `Usage: ${program.name()}${called === undefined ? '' : ` ${called.name()}`} ${(called ?? program).usage()}\n`;
};

const sentenceOf = (program: Command, error: CommanderError): string => {
  // `help nonsense` is told by commander as if it were help itself.
  const isCommand = error.code === 'commander.excessArguments' || error.code === 'commander.help';
  if (!isCommand) return error.message.replace(/^error: /, '');
  const known = program
    .createHelp()
    .visibleCommands(program)
    .map(command => command.name())
    .join(', ');
  return `there is no command '${program.args.at(-1) ?? ''}'; the commands are: ${known}`;
};

/** One sentence, then the usage line: never a stack trace. */
const complain = (program: Command, error: unknown): number => {
  if (error instanceof CommanderError && error.exitCode === 0) return 0; // --help and --version
  const usage = error instanceof CommanderError || error instanceof UsageError;
  const sentence =
    error instanceof CommanderError
      ? sentenceOf(program, error)
      : error instanceof Error
        ? error.message
        : String(error);
  // commander's `(Did you mean --once?)` stands on a line of its own.
  const [first = '', ...more] = sentence.split(/\n(?=\(Did you mean [^\n]*\)$)/).map(visible);
  err.write(`${[`reaptop: ${first}`, ...more].join('\n')}\n${usage ? usageLine(program) : ''}`);
  return usage ? EXIT_USAGE : EXIT_FAILURE;
};

const main = async (): Promise<void> => {
  process.on('exit', () => {
    if (out.lost() !== null && !acted && !process.exitCode) process.exitCode = EXIT_FAILURE;
  });
  const program = buildProgram(code => {
    process.exitCode = code;
  });
  try {
    await program.parseAsync(process.argv);
  } catch (error) {
    process.exitCode = complain(program, error);
  }
};

void main();
