import { Command, CommanderError } from 'commander';
import { version } from '../package.json';
import { chooseSystem } from './engine/choose-system.ts';
import { Collector } from './engine/collector.ts';
import { loadConfig, loadRootSettings, UsageError } from './engine/config.ts';
import { once } from './commands/once.ts';
import { addCommonOptions, type CommonOptions } from './commands/options.ts';
import { wantsColor } from './commands/paint.ts';

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;

/** Wide enough to read, narrow enough for a paste; used when nobody says how wide the output is. */
const DEFAULT_WIDTH = 120;

interface MainOptions extends CommonOptions {
  readonly once?: boolean;
  readonly from?: string;
  readonly demo?: boolean;
}

const widthOf = (env: NodeJS.ProcessEnv): number => {
  const told = Number(env.COLUMNS);
  if (Number.isInteger(told) && told >= 20) return told;
  return process.stdout.columns ?? DEFAULT_WIDTH;
};

/** Everything a command needs, from flags and environment. */
const prepare = async (options: CommonOptions & { readonly from?: string }) => {
  const config = await loadConfig(process.env, options.config);
  const roots = options.root ?? [process.cwd()];
  const settings = await loadRootSettings(options.from === undefined ? roots : []);
  const system = await chooseSystem({ platform: options.platform, from: options.from });
  const full = { ...config, protect: [...config.protect, ...settings.protect] };
  const collector = new Collector({ system, config: full, env: process.env, cwd: process.cwd(), warnings: settings.warnings });
  return { config: full, system, collector };
};

const runMain = async (options: MainOptions): Promise<number> => {
  const { collector } = await prepare(options);
  return once(
    collector,
    {
      all: options.all === true,
      json: options.json === true,
      width: widthOf(process.env),
      color: wantsColor(process.stdout, process.env, !options.color),
      failOn: options.failOn ?? null,
    },
    process.stdout,
  );
};

const buildProgram = (finish: (code: number) => void): Command => {
  const program = addCommonOptions(new Command('reaptop'))
    .description('Shows what AI coding agents left running, says what is leaked and why, and clears it without hurting live work.')
    .version(version, '--version')
    .helpOption('--help')
    .option('--once', 'one snapshot to stdout, then exit')
    .option('--from <file>', 'judge a recorded table: our JSON or a ps listing with a header; - is standard input')
    .option('--demo', 'the live screen on an invented machine')
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .showHelpAfterError(false)
    .allowExcessArguments(false)
    .action(async (options: MainOptions) => finish(await runMain(options)));
  return program;
};

/** One sentence, then the usage line: never a stack trace. */
const complain = (program: Command, error: unknown): number => {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    const sentence = error.message.replace(/^error: /, '');
    process.stderr.write(`reaptop: ${sentence}\nUsage: ${program.name()} ${program.usage()}\n`);
    return EXIT_USAGE;
  }
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`reaptop: ${message}\n`);
  if (!(error instanceof UsageError)) return EXIT_FAILURE;
  process.stderr.write(`Usage: ${program.name()} ${program.usage()}\n`);
  return EXIT_USAGE;
};

const main = async (): Promise<void> => {
  // `reaptop --once | head` closes the pipe early: that is no failure.
  process.stdout.on('error', error => {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(0);
    throw error;
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
