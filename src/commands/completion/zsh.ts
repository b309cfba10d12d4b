import { singleQuoted } from '../../model/shell.ts';
import {
  type CommandShape,
  contextOf,
  contextPattern,
  type OptionShape,
  type Wanted,
} from './program-shape.ts';

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
    `    ${singleQuoted(contextOf(shape))}) _arguments -S \\`,
    [...shape.options.map(specOf), ...wordSpecs(shape)].join(' \\\n'),
    '      ;;',
  ].join('\n');

export const zshCompletion = (shapes: readonly CommandShape[]): string => {
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
