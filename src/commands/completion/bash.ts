import { singleQuoted } from '../../model/shell.ts';
import { type CommandShape, contextOf, contextPattern, type Wanted } from './program-shape.ts';

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
        `    ${singleQuoted(`${contextOf(shape)}:${long}`)}) ${generatorOf(value)}; return ;;`,
    );

const wordCase = (shape: CommandShape): string => {
  const words = [...shape.next.map(({ word }) => word), ...shape.options.map(({ long }) => long)];
  return `    ${singleQuoted(contextOf(shape))}) words=${singleQuoted(words.join(' '))} ;;`;
};

export const bashCompletion = (shapes: readonly CommandShape[]): string => {
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
