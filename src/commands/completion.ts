import type { Command } from 'commander';
import { singleQuoted } from '../model/shell.ts';
import { manualPage } from './manual.ts';
import { manPages } from './manual-pages.ts';
import {
  type CommandShape,
  commandText,
  contextPattern,
  furtherPlaces,
  type OptionShape,
  programShape,
  type Wanted,
} from './program-shape.ts';

const generatorOf = (value: Wanted): string => {
  // compopt came with bash 4; macOS still has 3.2, where a directory just gets no slash.
  if (value.kind === 'file') return '_reaptop_reply -f; compopt -o filenames 2>/dev/null';
  if (value.kind === 'directory') return '_reaptop_reply -d; compopt -o filenames 2>/dev/null';
  return value.kind === 'choice'
    ? `_reaptop_reply -W ${singleQuoted(value.choices.join(' '))}`
    : 'COMPREPLY=()';
};

const valueCases = (shape: CommandShape): string[] =>
  shape.options
    .filter(({ value }) => value.kind !== 'nothing')
    .map(
      ({ long, value }) =>
        `    ${singleQuoted(`${commandText(shape)}:${long}`)}) ${generatorOf(value)}; return ;;`,
    );

const wordCase = (shape: CommandShape): string => {
  const words = [...shape.next.map(({ word }) => word), ...shape.options.map(({ long }) => long)];
  return `    ${singleQuoted(commandText(shape))}) words=${singleQuoted(words.join(' '))} ;;`;
};

const bashCompletion = (shapes: readonly CommandShape[]): string => {
  const contexts = contextPattern(shapes);
  return `# bash completion for reaptop: eval "$(reaptop completion bash)"
_reaptop_reply() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$@" -- "$cur")
}
_reaptop() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} context= word words=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${context:+$context }$word" in
      ${contexts}) context="\${context:+$context }$word" ;;
    esac
  done
  case "$context:$prev" in
${shapes.flatMap(valueCases).join('\n')}
  esac
  case "$context" in
${shapes.map(wordCase).join('\n')}
  esac
  _reaptop_reply -W "$words"
}
complete -F _reaptop reaptop
`;
};

/** fish knows two escapes between single quotes. */
const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const valueFlags = (value: Wanted): string => {
  if (value.kind === 'nothing') return '';
  if (value.kind === 'file') return ' -rF';
  if (value.kind === 'directory') return ` -xa '(__fish_complete_directories)'`;
  return value.kind === 'choice' ? ` -xa ${fishQuoted(value.choices.join(' '))}` : ' -x';
};

const fishCompletion = (shapes: readonly CommandShape[]): string => {
  const contexts = shapes
    .filter(({ words }) => words.length > 0)
    .map(shape => fishQuoted(commandText(shape)));
  const line = (shape: CommandShape): string =>
    `complete -c reaptop -n ${fishQuoted(`__reaptop_in "${commandText(shape)}"`)}`;
  const option = (shape: CommandShape, { long, short, description, value }: OptionShape): string =>
    `${line(shape)} -l ${long.slice(2)}${short === null ? '' : ` -s ${short.slice(1)}`} -d ${fishQuoted(description)}${valueFlags(value)}`;
  return `# fish completion for reaptop: reaptop completion fish > ~/.config/fish/completions/reaptop.fish
function __reaptop_in --argument-names wanted
  set -l found
  for word in (commandline -opc)[2..-1]
    switch (string join -- ' ' $found $word)
      case ${contexts.join(' ')}
        set -a found $word
    end
  end
  set -l context (string join -- ' ' $found)
  test "$context" = "$wanted"
end
complete -c reaptop -f
${shapes
  .flatMap(shape => [
    ...shape.next.map(
      ({ word, description }) =>
        `${line(shape)} -a ${word}${description === '' ? '' : ` -d ${fishQuoted(description)}`}`,
    ),
    ...shape.options.map(one => option(shape, one)),
  ])
  .join('\n')}
`;
};

export const COMPLETION_SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof COMPLETION_SHELLS)[number];

/** Colons and brackets part the fields of a spec. */
const plain = (text: string): string => text.replace(/[[\]:\\]/g, '\\$&');

/** zsh evaluates these words once more: a command named in a description must not run. */
const unevaluated = (text: string): string => text.replace(/["`$]/g, '');

const ACTION: { readonly [K in Wanted['kind']]: (value: Wanted & { readonly kind: K }) => string } = {
  nothing: () => '',
  file: () => ':file:_files',
  directory: () => ':directory:_files -/',
  text: ({ name }) => `:${plain(name)}: `,
  choice: ({ choices }) => `:value:(${choices.join(' ')})`,
};

const specOf = ({ long, description, value }: OptionShape): string => {
  const action = (ACTION[value.kind] as (value: Wanted) => string)(value);
  return `      ${singleQuoted(`*${long}[${plain(description)}]${action}`)}`;
};

/** The command's own words stand before the cursor, each at its place; then comes what may follow them. */
const wordSpecs = ({ words, next }: CommandShape): string[] => {
  const own = words.map((word, index) => `${index + 1}: :(${word})`);
  // With empty descriptions beside them, zsh lists the words in a row that ends in a lone `--`.
  const described = next.some(({ description }) => description !== '');
  const following = described
    ? `((${next.map(({ word, description }) => `${word}\\:"${unevaluated(plain(description))}"`).join(' ')}))`
    : `(${next.map(({ word }) => word).join(' ')})`;
  const specs = next.length === 0 ? own : [...own, `${words.length + 1}:command:${following}`];
  return specs.map(spec => `      ${singleQuoted(spec)}`);
};

const caseOf = (shape: CommandShape): string =>
  [
    `    ${singleQuoted(commandText(shape))}) _arguments -S \\`,
    [...shape.options.map(specOf), ...wordSpecs(shape)].join(' \\\n'),
    '      ;;',
  ].join('\n');

const zshCompletion = (shapes: readonly CommandShape[]): string => {
  const contexts = contextPattern(shapes);
  return `#compdef reaptop
# zsh completion for reaptop: save it as _reaptop in a directory of $fpath, or source <(reaptop completion zsh)
_reaptop() {
  local where= word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${where:+$where }$word" in
      ${contexts}) where="\${where:+$where }$word" ;;
    esac
  done
  case "$where" in
${shapes.map(caseOf).join('\n')}
  esac
}
if [ "$funcstack[1]" = _reaptop ]; then _reaptop "$@"; else compdef _reaptop reaptop; fi
`;
};

const GENERATORS: Readonly<Record<Shell, (shapes: readonly CommandShape[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** Made from the same table of options as `--help`: what is added there is completed here. */
export const completion = (program: Command, shell: Shell): string =>
  GENERATORS[shell]([...programShape(program), ...furtherPlaces(program)]);

/** Every page of the manual, by the name of its file. */
export const manual = (program: Command, version: string): Readonly<Record<string, string>> => ({
  'reaptop.1': manualPage(programShape(program), version),
  ...manPages(version),
});
