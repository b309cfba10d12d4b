import { Command, CommanderError, Option } from 'commander';
import { version } from '../package.json';
import { examplesOf } from './commands/examples.ts';
import { lineOptions } from './commands/line.ts';
import { once, onceAt, onceLine, onceMine } from './commands/once.ts';
import {
  type ActingOptions,
  addActingOptions,
  addCleanOptions,
  addCommonOptions,
  addSweepOptions,
  askedBySession,
  type CommonOptions,
  parseAt,
  refuseElsewhere,
} from './commands/options.ts';
import { prepared } from './commands/prepared.ts';
import {
  addGuardCommand,
  addInsideCommands,
  addSessionCommands,
  addTellingCommands,
  interruption,
  runClean,
  runSweep,
  type Terminal,
  willAct,
} from './commands/register.ts';
import { topicsText } from './commands/topics.ts';
import { scannedFiles } from './engine/agent-files.ts';
import { isUsageError, UsageError, userConfigPath } from './engine/load-config.ts';
import { nearest, visible } from './model/text.ts';
import { EXIT_FAILURE, EXIT_USAGE, tolerantOutput, wantsColor, widthOf } from './output.ts';

/** The command that was called, `clean` among the words of `reaptop clean --bogus`. */
const calledOf = (program: Command): Command | undefined =>
  program.commands.find(command => process.argv.includes(command.name()));

const usageLine = (program: Command): string => {
  const called = calledOf(program);
  return `Usage: ${program.name()}${called === undefined ? '' : ` ${called.name()}`} ${(called ?? program).usage()}\n`;
};

const commandNames = (program: Command): readonly string[] =>
  program
    .createHelp()
    .visibleCommands(program)
    .map(command => command.name());

const sentenceOf = (program: Command, error: CommanderError): string => {
  const called = calledOf(program);
  if (error.code !== 'commander.excessArguments')
    return actionSentence(called, error) ?? error.message.replace(/^error: /, '');
  if (called !== undefined)
    return `${called.name()} does not take '${called.args.at(-1) ?? ''}'; see reaptop help ${called.name()}`;
  const word = program.args.at(-1) ?? '';
  const known = commandNames(program);
  const meant = nearest(word, known);
  return `no command '${word}'; ${meant === null ? `the commands are: ${known.join(', ')}` : `did you mean ${meant}?`}`;
};

/** `guard stat: no such action; did you mean status?` */
const actionSentence = (called: Command | undefined, error: CommanderError): string | null => {
  const argument = called?.registeredArguments[0];
  const word = /^error: command-argument value '([^']*)' is invalid for argument/.exec(error.message)?.[1];
  if (called === undefined || word === undefined || argument?.argChoices === undefined) return null;
  // Of a second word commander's own sentence has the choices.
  if (called.args[0] !== word) return null;
  const choices = argument.argChoices;
  const meant = nearest(word, choices);
  const hint = meant === null ? `use one of: ${choices.join(', ')}` : `did you mean ${meant}?`;
  return `${called.name()} ${word}: no such ${argument.name()}; ${hint}`;
};

/** Where it happened, with REAPTOP_DEBUG: an unforeseen error has no place of its own. */
const whereOf = (error: unknown): string =>
  process.env.REAPTOP_DEBUG === '1' && error instanceof Error
    ? `${(error.stack ?? '').split('\n').map(visible).join('\n')}\n`
    : '';

/** One sentence, then the usage line: never a stack trace, unless REAPTOP_DEBUG=1 asks for it. */
const complain = (program: Command, error: unknown, err: { write(text: string): void }): number => {
  if (error instanceof CommanderError && error.exitCode === 0) return 0; // --help and --version
  const usage = error instanceof CommanderError || isUsageError(error);
  const sentence =
    error instanceof CommanderError
      ? sentenceOf(program, error)
      : error instanceof Error
        ? error.message
        : String(error);
  // commander's `(Did you mean --once?)` stands on a line of its own.
  const [first = '', ...more] = sentence.split(/\n(?=\(Did you mean [^\n]*\)$)/).map(visible);
  err.write(`${[`reaptop: ${first}`, ...more].join('\n')}\n${usage ? usageLine(program) : whereOf(error)}`);
  return usage ? EXIT_USAGE : EXIT_FAILURE;
};

interface MainOptions extends CommonOptions {
  readonly once?: boolean;
  readonly mine?: boolean;
  readonly from?: string;
  readonly demo?: boolean;
  readonly line?: true | 'tmux' | 'claude';
  readonly always?: boolean;
  readonly at?: ReturnType<typeof parseAt>;
  readonly mouse: boolean;
  readonly bell?: boolean;
}

const err = tolerantOutput(process.stderr);
const out = tolerantOutput(process.stdout, why =>
  err.write(`reaptop: the output could not be written: ${why}\n`),
);
/** The exit code is about the machine: a lost output does not change it. */
let acted = false;
/** All was said and nothing was begun: the process may end as soon as its output has been taken. */
let said = false;

const runMain = async (options: MainOptions): Promise<number> => {
  if (options.at !== undefined && (options.from !== undefined || options.demo === true))
    throw new UsageError("--at can't be combined with --from or --demo.");
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
  // Without this the real machine is shown to a user who asked for an invented one.
  if (options.demo === true && (headless || !interactive || options.from !== undefined))
    throw new UsageError("--demo needs a terminal and can't be combined with --once, --json or --from.");
  if (
    options.mine === true &&
    (options.at !== undefined || options.from !== undefined || style !== undefined)
  )
    throw new UsageError("--mine can't be combined with --at, --from or --line.");
  if (!headless && options.mine !== true && interactive) {
    const { demo, live } = await import('./commands/tui.ts');
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
  if (!headless && options.mine !== true)
    err.write('reaptop: this is not a terminal; showing the text of --once\n');
  const onceOptions = {
    all: options.all === true,
    json: options.json === true,
    width: widthOf(process.env),
    color,
    failOn: options.failOn ?? null,
  };
  if (options.at !== undefined) return onceAt(options.at, onceOptions, process.env, out);
  const { config, system, collectorWith } = await prepared(options);
  if (options.mine === true) {
    const asked = askedBySession(process.env);
    return onceMine(collectorWith(scannedFiles(config)), system, asked, onceOptions, out);
  }
  if (style !== undefined) {
    return onceLine(
      collectorWith(scannedFiles(config)),
      {
        ...lineOptions(style, { always: options.always === true, color: options.color }, process.env),
        failOn: options.failOn ?? null,
      },
      out,
    );
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

const ACTING_FLAGS = ['root', 'json', 'color', 'config', 'platform', 'fail-on'] as const;

const buildProgram = (finish: (code: number) => void): Command => {
  const program = new Command('reaptop')
    .description(
      'Shows what AI coding agents left running, says what is leaked and why, and ends it without hurting live work.\nWithout a command it is the live screen; press ? there for its keys.',
    )
    .addHelpText('after', examplesOf(null) + topicsText())
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .option('--once', 'one snapshot to stdout, then exit')
    .option('--mine', 'with --once, called by an agent: only what its own session started and left')
    .option(
      '--from <file>',
      'judge a recorded table (our JSON, or a ps listing with its header); - is standard input',
    )
    .addOption(
      new Option('--line [style]', 'with --once: one line for a status bar; claude reads its JSON').choices([
        'tmux',
        'claude',
      ]),
    )
    .option('--always', 'with --line: `ok` when all is calm, instead of nothing')
    .option('--demo', 'the live screen on an invented machine')
    .option('--bell', 'ring when a finding becomes critical or an agent waits for you')
    .option('--no-mouse', 'leave the mouse to the terminal')
    .option(
      '--at <time>',
      'what guard recorded then: HH:MM, -2h, an ISO date, boot or oom; read-only',
      parseAt,
    );
  addCommonOptions(program)
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .showHelpAfterError(false)
    .allowExcessArguments(false)
    .action(async (options: MainOptions) => finish(await runMain(options)));
  addCommonOptions(addActingOptions(addCleanOptions(program.command('clean'))), { shown: ACTING_FLAGS })
    .addHelpText('after', examplesOf('clean'))
    .description('ends proven leaks; prints the plan, acts only with --force')
    .action(async (_: unknown, command: Command) => finish(await acting(runClean, command)));
  addCommonOptions(addActingOptions(addSweepOptions(program.command('sweep'))), { shown: ACTING_FLAGS })
    .addHelpText('after', examplesOf('sweep'))
    .description('clears what finished agents left: sessions, logs, prompts, locks; acts only with --force')
    .action(async (_: unknown, command: Command) => finish(await acting(runSweep, command)));
  const acts = {
    version,
    out,
    err,
    finish,
    width: () => widthOf(process.env),
    interruption: () => {
      acted = true;
      return interruption();
    },
  };
  addGuardCommand(program, acts);
  addSessionCommands(program, acts);
  addInsideCommands(program, { out, err, finish });
  addTellingCommands(program, { version, out, width: () => widthOf(process.env), finish });
  return program;
};

export const main = async (): Promise<void> => {
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
