import { createScanner, type Node } from 'jsonc-parser';

/**
 * Edits of a JSON text with comments that take not one byte away from what somebody else wrote: a new member is only
 * put in, and a member that goes takes its comma and the blanks around it along, never a comment. jsonc-parser's own
 * edits format the neighbours anew.
 */

export interface Style {
  readonly eol: string;
  /** One level of indentation. */
  readonly indent: string;
}

/** As the text itself is written. */
export const styleOf = (text: string): Style => ({
  eol: text.includes('\r\n') ? '\r\n' : '\n',
  indent: /^([ \t]+)\S/m.exec(text)?.[1] ?? '  ',
});

const endOf = (node: Node): number => node.offset + node.length;

/** The blanks that a line begins with. */
const indentAt = (text: string, offset: number): string => {
  const from = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(from, offset))?.[0] ?? '';
};

const startsLine = (text: string, offset: number): boolean =>
  text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).trim() === '' &&
  text.lastIndexOf('\n', offset - 1) >= 0;

const written = (value: unknown, { eol, indent }: Style, at: string): string =>
  JSON.stringify(value, null, indent).replaceAll('\n', `${eol}${at}`);

/** `"key": value`, or the bare value for a list. */
const memberText = (key: string | null, value: string): string =>
  key === null ? value : `${JSON.stringify(key)}: ${value}`;

/** Puts a member behind the last one of an object (with a key) or a list (without). */
export const insertLast = (
  text: string,
  container: Node,
  key: string | null,
  value: unknown,
  style: Style,
): string => {
  const last = container.children?.at(-1);
  const put = (at: number, what: string): string => text.slice(0, at) + what + text.slice(at);
  if (last !== undefined) {
    if (!startsLine(text, last.offset))
      return put(endOf(last), `, ${memberText(key, JSON.stringify(value))}`);
    const at = indentAt(text, last.offset);
    return put(endOf(last), `,${style.eol}${at}${memberText(key, written(value, style, at))}`);
  }
  const around = indentAt(text, container.offset);
  const at = around + style.indent;
  const rest = text.slice(container.offset + 1);
  const closes = /^[ \t]*\r?\n/.test(rest) ? '' : `${style.eol}${around}`;
  return put(container.offset + 1, `${style.eol}${at}${memberText(key, written(value, style, at))}${closes}`);
};

const BLANK = /^[\s,]*$/;

/** The comma between two offsets, comments left out of sight; null: there is none. */
const commaBetween = (text: string, from: number, to: number): number | null => {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  // Not the kinds of tokens by name: they are a const enum of another package.
  for (scanner.scan(); scanner.getTokenOffset() < to; scanner.scan())
    if (text[scanner.getTokenOffset()] === ',') return scanner.getTokenOffset();
  return null;
};

const cut = (text: string, from: number, to: number): string => text.slice(0, from) + text.slice(to);

/** Takes one member out, with the comma that it needed. */
export const removeMember = (text: string, container: Node, index: number): string => {
  const children = container.children ?? [];
  const node = children[index];
  if (node === undefined) return text;
  const [before, after] = [children[index - 1], children[index + 1]];
  if (before !== undefined) {
    if (BLANK.test(text.slice(endOf(before), node.offset))) return cut(text, endOf(before), endOf(node));
    const comma = commaBetween(text, endOf(before), node.offset);
    const without = cut(text, node.offset, endOf(node));
    return comma === null ? without : cut(without, comma, comma + 1);
  }
  if (after !== undefined) {
    if (BLANK.test(text.slice(endOf(node), after.offset))) return cut(text, node.offset, after.offset);
    const comma = commaBetween(text, endOf(node), after.offset);
    const without = comma === null ? text : cut(text, comma, comma + 1);
    return cut(without, node.offset, endOf(node));
  }
  const [start, end] = [container.offset + 1, endOf(container) - 1];
  const lonely = BLANK.test(text.slice(start, node.offset)) && BLANK.test(text.slice(endOf(node), end));
  if (lonely) return cut(text, start, end);
  const comma = commaBetween(text, endOf(node), end);
  const without = comma === null ? text : cut(text, comma, comma + 1);
  return cut(without, node.offset, endOf(node));
};
