import { Argument, type Command, type Option } from 'commander';
import { singleQuoted } from '../model/shell.ts';
import { TOPICS } from './topics.ts';

/** What may follow an option, or stand where a word is expected. */
export type Wanted =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'file' }
  | { readonly kind: 'directory' }
  | { readonly kind: 'text'; readonly name: string }
  | { readonly kind: 'choice'; readonly choices: readonly string[] };

export interface OptionShape {
  /** `--grace <seconds>`, as the help shows it. */
  readonly flags: string;
  readonly long: string;
  readonly short: string | null;
  readonly description: string;
  readonly value: Wanted;
  readonly byDefault: string | null;
}

export interface ArgumentShape {
  readonly name: string;
  readonly description: string;
  readonly choices: readonly string[];
}

/** A command, the program itself included, with all that may follow it. */
export interface CommandShape {
  /** The words that lead to it; none for the program itself. */
  readonly words: readonly string[];
  readonly usage: string;
  readonly description: string;
  readonly arguments: readonly ArgumentShape[];
  readonly options: readonly OptionShape[];
  /** Words that may come next: its sub-commands, and the choices of its first argument. */
  readonly next: readonly { readonly word: string; readonly description: string }[];
}

const wantedBy = (option: Option): Wanted => {
  if (option.argChoices !== undefined) return { kind: 'choice', choices: option.argChoices };
  const name = /<([^>.]+)/.exec(option.flags)?.[1];
  if (name === undefined) return { kind: 'nothing' };
  if (name === 'file') return { kind: 'file' };
  return name === 'dir' ? { kind: 'directory' } : { kind: 'text', name };
};

const optionOf = (option: Option): OptionShape => ({
  flags: option.flags,
  long: option.long ?? option.flags,
  short: option.short ?? null,
  description: option.description,
  value: wantedBy(option),
  byDefault:
    option.defaultValue === undefined || option.negate
      ? null
      : (option.defaultValueDescription ?? String(option.defaultValue)),
});

const plainWords = (words: readonly string[]): CommandShape['next'] =>
  words.map(word => ({ word, description: '' }));

const subcommands = (command: Command): CommandShape['next'] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map(sub => ({ word: sub.name(), description: sub.description() }));

/** Commander asks the same of its help: nothing hidden, `--help` included. */
const shapeOf = (command: Command, words: readonly string[]): CommandShape => ({
  words,
  usage: command.usage(),
  description: command.description(),
  arguments: command.registeredArguments.map(argument => ({
    name: argument.name(),
    description: argument.description,
    choices: argument.argChoices ?? [],
  })),
  options: command.createHelp().visibleOptions(command).map(optionOf),
  next: [...subcommands(command), ...plainWords(command.registeredArguments[0]?.argChoices ?? [])],
});

/** The program first, then each command and its sub-commands: what the manual is made from. */
export const programShape = (program: Command, words: readonly string[] = []): readonly CommandShape[] => [
  shapeOf(program, words),
  ...program
    .createHelp()
    .visibleCommands(program)
    .filter(command => command.name() !== 'help')
    .flatMap(command => programShape(command, [...words, command.name()])),
];

const helpWords = (program: Command): CommandShape['next'] => {
  const commands = subcommands(program).filter(({ word }) => word !== 'help');
  const isCommand = new Set(commands.map(({ word }) => word));
  const topics = TOPICS.filter(([name]) => !isCommand.has(name));
  return [...commands, ...topics.map(([word, description]) => ({ word, description }))];
};

/** Places that only completions know: after `help` a command or a topic, after `guard print` what it prints. */
export const furtherPlaces = (program: Command): readonly CommandShape[] => {
  const place = (words: readonly string[], next: CommandShape['next']): CommandShape => ({
    words,
    usage: '',
    description: '',
    arguments: [],
    options: [],
    next,
  });
  return [
    place(['help'], helpWords(program)),
    ...program.commands.flatMap(command => {
      // Not by its class: this is a bundle of its own, and would bring its own commander along.
      const first = command.registeredArguments[0] as Argument & Partial<Pick<FollowedArgument, 'after'>>;
      return Object.entries(first?.after ?? {}).map(([word, next]) =>
        place([command.name(), word], plainWords(next)),
      );
    }),
  ];
};

/** The words of every command as one text each: where a completion is asked for. */
export const commandText = ({ words }: CommandShape): string => words.join(' ');

/** Every context but the outermost, as the alternatives of a `case` of bash and zsh. */
export const contextPattern = (shapes: readonly CommandShape[]): string =>
  shapes
    .filter(({ words }) => words.length > 0)
    .map(shape => singleQuoted(commandText(shape)))
    .join('|');

/** An argument some of whose choices want one more word: commander cannot say which, and completions must. */
export class FollowedArgument extends Argument {
  constructor(
    name: string,
    description: string,
    readonly after: Readonly<Record<string, readonly string[]>>,
  ) {
    super(name, description);
  }
}
