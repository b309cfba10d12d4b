import { Command, Option } from 'commander';
import { version } from '../package.json';
import { scannedFiles } from './collect/agent-files.ts';
import { UsageError, userConfigPath } from './collect/config.ts';
import { interruption, runClean, runSweep, type Terminal, willAct } from './commands/acting.ts';
import { complain } from './commands/complaints.ts';
import { EXIT_FAILURE } from './commands/exit-codes.ts';
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
  refuseElsewhere,
} from './commands/options.ts';
import { losable } from './commands/output.ts';
import { wantsColor } from './commands/paint.ts';
import { prepared } from './commands/prepared.ts';
import { addTellingCommands } from './commands/telling.ts';

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
/** All was said and nothing was begun: the process may end as soon as its output has been taken. */
let said = false;

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
  // Without this the real machine is shown to somebody who asked for an invented one.
  if (options.demo === true && (headless || !interactive || options.from !== undefined))
    throw new UsageError(
      '--demo is a live screen of its own: it needs a terminal, and no --once, --json or --from.',
    );
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
  const code = await once(collectorWith(scannedFiles(config)), onceOptions, out);
  said = true;
  return code;
};

const acting = <F extends ActingOptions>(
  run: (flags: F, terminal: Terminal) => Promise<number>,
  command: Command,
): Promise<number> => {
  const flags = command.optsWithGlobals<F>();
  refuseElsewhere(command);
  acted = willAct(flags);
  return run(flags, { out, err, width: widthOf(process.env) });
};

const buildProgram = (finish: (code: number) => void): Command => {
  const program = addCommonOptions(new Command('reaptop'))
    .description(
      'Shows what AI coding agents left running, says what is leaked and why, and clears it without hurting live work.',
    )
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
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
    .action(async (_: unknown, command: Command) => finish(await acting(runClean, command)));
  addSweepOptions(addActingOptions(addCommonOptions(program.command('sweep'))))
    .description('clears what finished agents left: sessions, logs, prompts, locks; acts only with --force')
    .action(async (_: unknown, command: Command) => finish(await acting(runSweep, command)));
  addGuardCommand(program, {
    version,
    out,
    err,
    finish,
    interruption: () => {
      acted = true;
      return interruption();
    },
  });
  addInsideCommands(program, { out, err, finish });
  addTellingCommands(program, { version, out, width: () => widthOf(process.env), finish });
  return program;
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
    process.exitCode = complain(program, error, err);
  }
  // Left to itself Node takes everything apart first: 3 ms, and 10 after a look at 5,000 processes.
  if (said && out.taken() && err.taken()) process.exit();
};

void main();
