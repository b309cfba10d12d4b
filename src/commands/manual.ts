import { EXIT_CODES } from '../output.ts';
import { EXAMPLES } from './examples.ts';
import type { CommandShape, OptionShape } from './program-shape.ts';

/** Text for roff: a backslash, a hyphen that is no hyphen, and a control character at the start of a line. */
export const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

const argumentLines = ({ arguments: all }: CommandShape): string[] =>
  all.flatMap(({ name, description, choices }) => [
    '.TP',
    `.I ${roff(name)}`,
    roff([description, ...(choices.length === 0 ? [] : [`(${choices.join(', ')})`])].join(' ')),
  ]);

const optionLines = ({ flags, description, byDefault, value }: OptionShape): string[] => [
  '.TP',
  `.B ${roff(flags)}`,
  roff(
    [
      description,
      ...(value.kind === 'choice' ? [`(${value.choices.join(', ')})`] : []),
      ...(byDefault === null || byDefault === 'false' ? [] : [`[default: ${byDefault}]`]),
    ].join(' '),
  ),
];

const FILES: readonly (readonly [string, string])[] = [
  ['$XDG_CONFIG_HOME/reaptop/config.json', 'the config of this user'],
  ['.reaptop.json', "a project's own additions: protections, heartbeat sources, thresholds of its files"],
  ['$XDG_STATE_HOME/reaptop/audit.jsonl', 'every act, two lines each'],
];

const ENVIRONMENT: readonly (readonly [string, string])[] = [
  ['NO_COLOR', 'no colour, when it is set and not empty'],
  ['COLUMNS', 'how wide text is made where there is no terminal to ask'],
  ['XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME', 'where config, state and cache are'],
  ['CLAUDE_CONFIG_DIR', "where Claude's own files are"],
];

const listed = (entries: readonly (readonly [string, string])[]): string[] =>
  entries.flatMap(([term, meaning]) => ['.TP', `.B ${roff(term)}`, roff(meaning)]);

/** An option of one command may share its name with everybody's and mean something else: guard's `--once`. */
const sameAs = ({ flags, description }: OptionShape): string => `${flags} ${description}`;

/** A section per command, with the options that are not everybody's. */
const commandLines = (shape: CommandShape, common: ReadonlySet<string>): string[] => [
  '.SS',
  `reaptop ${roff(`${shape.words.join(' ')} ${shape.usage}`)}`,
  roff(shape.description === '' ? '' : `${shape.description}.`),
  ...argumentLines(shape),
  ...shape.options.filter(option => !common.has(sameAs(option))).flatMap(optionLines),
];

export const manualPage = ([program, ...commands]: readonly CommandShape[], version: string): string => {
  if (program === undefined) return '';
  const common = new Set(program.options.map(sameAs));
  return [
    `.TH REAPTOP 1 "" "reaptop ${roff(version)}" "User Commands"`,
    '.SH NAME',
    'reaptop \\- shows what AI coding agents left running, and cleans up leaks',
    '.SH SYNOPSIS',
    `.B reaptop\n${roff(program.usage)}`,
    '.SH DESCRIPTION',
    roff(program.description),
    '.SH OPTIONS',
    ...program.options.flatMap(optionLines),
    '.SH COMMANDS',
    ...commands.flatMap(shape => commandLines(shape, common)),
    '.SH EXAMPLES',
    ...listed(EXAMPLES),
    '.SH EXIT STATUS',
    ...listed(EXIT_CODES.map(([code, meaning]) => [String(code), meaning])),
    '.SH FILES',
    ...listed(FILES),
    '.SH ENVIRONMENT',
    ...listed(ENVIRONMENT),
    '',
  ].join('\n');
};
