import type { Command, Option } from 'commander';
import { singleQuoted } from './quoting.ts';

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

/** A command, the program itself included, with all that may follow it. */
export interface CommandShape {
  /** The words that lead to it; none for the program itself. */
  readonly words: readonly string[];
  readonly usage: string;
  readonly description: string;
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
  byDefault: option.defaultValue === undefined || option.negate ? null : String(option.defaultValue),
});

/** Commander asks the same of its help: nothing hidden, `--help` included. */
const shapeOf = (command: Command, words: readonly string[]): CommandShape => {
  const help = command.createHelp();
  const below = help.visibleCommands(command).filter(sub => sub.name() !== 'help');
  return {
    words,
    usage: command.usage(),
    description: command.description(),
    options: help.visibleOptions(command).map(optionOf),
    next: [
      ...below.map(sub => ({ word: sub.name(), description: sub.description() })),
      ...(command.registeredArguments[0]?.argChoices ?? []).map(word => ({ word, description: '' })),
    ],
  };
};

/** The program first, then each command and its sub-commands: what completions and the manual are made from. */
export const programShape = (program: Command, words: readonly string[] = []): readonly CommandShape[] => [
  shapeOf(program, words),
  ...program
    .createHelp()
    .visibleCommands(program)
    .filter(command => command.name() !== 'help')
    .flatMap(command => programShape(command, [...words, command.name()])),
];

/** The words of every command as one text each: where a completion is asked for. */
export const contextOf = ({ words }: CommandShape): string => words.join(' ');

/** Every context but the outermost, as the alternatives of a `case` of bash and zsh. */
export const contextPattern = (shapes: readonly CommandShape[]): string =>
  shapes
    .filter(({ words }) => words.length > 0)
    .map(shape => singleQuoted(contextOf(shape)))
    .join('|');
