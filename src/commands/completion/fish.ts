import { type CommandShape, contextOf, type OptionShape, type Wanted } from './program-shape.ts';
import { fishQuoted } from './quoting.ts';

const valueFlags = (value: Wanted): string => {
  if (value.kind === 'nothing') return '';
  if (value.kind === 'file') return ' -rF';
  if (value.kind === 'directory') return ` -xa '(__fish_complete_directories)'`;
  return value.kind === 'choice' ? ` -xa ${fishQuoted(value.choices.join(' '))}` : ' -x';
};

export const fishCompletion = (shapes: readonly CommandShape[]): string => {
  const contexts = shapes.filter(({ words }) => words.length > 0).map(shape => fishQuoted(contextOf(shape)));
  const line = (shape: CommandShape): string =>
    `complete -c reaptop -n ${fishQuoted(`__reaptop_in "${contextOf(shape)}"`)}`;
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
