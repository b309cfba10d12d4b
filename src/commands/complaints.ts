import { type Command, CommanderError } from 'commander';
import { isUsageError } from '../collect/config.ts';
import { visible } from '../model/text.ts';
import { EXIT_FAILURE, EXIT_USAGE } from './exit-codes.ts';

/** The command that was called, `clean` among the words of `reaptop clean --bogus`. */
const calledOf = (program: Command): Command | undefined =>
  program.commands.find(command => process.argv.includes(command.name()));

const usageLine = (program: Command): string => {
  const called = calledOf(program);
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
  const called = calledOf(program);
  if (called !== undefined)
    return `${called.name()} does not take '${called.args.at(-1) ?? ''}'; what it takes is in reaptop help ${called.name()}`;
  return `there is no command '${program.args.at(-1) ?? ''}'; the commands are: ${known}`;
};

/** Where it happened, for whoever asks: what we did not foresee comes without a place of its own. */
const whereOf = (error: unknown): string =>
  process.env.REAPTOP_DEBUG === '1' && error instanceof Error
    ? `${(error.stack ?? '').split('\n').map(visible).join('\n')}\n`
    : '';

/** One sentence, then the usage line: never a stack trace, unless REAPTOP_DEBUG=1 asks for it. */
export const complain = (program: Command, error: unknown, err: { write(text: string): void }): number => {
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
