import { cells, cut } from '../model/text.ts';

/**
 * Words in lines of at most `width` cells, the lines after the first behind `indent`. Spaces at the very start stay;
 * a word longer than a line is cut across lines.
 */
export const wrap = (text: string, width: number, indent = ''): readonly string[] => {
  if (width < 1) return [];
  const lines: string[] = [];
  const words = text.trimStart();
  let line = text.slice(0, text.length - words.length);
  let empty = true;
  const next = (): void => {
    lines.push(line.trimEnd());
    line = indent;
    empty = true;
  };
  for (const word of words.split(' ')) {
    if (!empty && cells(line) + 1 + cells(word) <= width) {
      line += ` ${word}`;
      continue;
    }
    if (!empty) next();
    let rest = word;
    while (cells(line) + cells(rest) > width) {
      const head = cut(rest, width - cells(line), '');
      if (head === '') break; // a wide character in a column of one
      line += head;
      rest = rest.slice(head.length);
      next();
    }
    line += rest;
    empty = rest === '';
  }
  if (!empty || lines.length === 0) lines.push(line.trimEnd());
  return lines;
};
