import { cells, cut } from '../model/text.ts';

/** Breaks at spaces; a word longer than the line is cut into pieces. */
export const wrap = (text: string, width: number, indent: string): string[] => {
  const lines: string[] = [];
  let line = text;
  while (cells(line) > width) {
    const head = cut(line, width + 1);
    const limit = head.length - 1;
    const space = line.lastIndexOf(' ', limit);
    const at = space > indent.length ? space : limit;
    lines.push(line.slice(0, at));
    line = `${indent}${line.slice(at).trimStart()}`;
  }
  lines.push(line);
  return lines;
};
