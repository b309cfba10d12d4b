import audit from '../manual/audit.md';
import config from '../manual/config.md';
import guard from '../manual/guard.md';
import hooks from '../manual/hooks.md';
import json from '../manual/json.md';
import keys from '../manual/keys.md';
import macos from '../manual/macos.md';
import plugin from '../manual/plugin.md';
import sleep from '../manual/sleep.md';
import sweep from '../manual/sweep.md';
import verdicts from '../manual/verdicts.md';
import { cells, wrap } from '../model/text.ts';
import type { Paint } from '../output.ts';
import { roff } from './manual.ts';
import { TOPICS } from './topics.ts';

const PAGES: Readonly<Record<string, string>> = {
  audit,
  config,
  guard,
  hooks,
  json,
  keys,
  macos,
  plugin,
  sleep,
  sweep,
  verdicts,
};

/** As much of Markdown as the pages use. */
type Block =
  | { readonly is: 'heading'; readonly depth: number; readonly text: string }
  | { readonly is: 'paragraph'; readonly text: string }
  | { readonly is: 'item'; readonly mark: string; readonly text: string }
  | { readonly is: 'code'; readonly lines: readonly string[] }
  | { readonly is: 'table'; readonly rows: readonly (readonly string[])[] };

const cellsOf = (row: string): string[] =>
  row
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map(cell => cell.trim().replaceAll('\\|', '|'));

const blockOf = (text: string): readonly Block[] => {
  const heading = /^(#+) (.*)$/.exec(text);
  if (heading !== null) return [{ is: 'heading', depth: heading[1]!.length, text: heading[2]! }];
  const lines = text.split('\n');
  if (text.startsWith('```')) return [{ is: 'code', lines: lines.slice(1, -1) }];
  if (text.startsWith('|'))
    return [{ is: 'table', rows: lines.filter(line => !/^\| --- /.test(line)).map(cellsOf) }];
  const items = lines.map(line => /^(-|\d+\.) (.*)$/.exec(line));
  return items.every(item => item !== null)
    ? items.map(([, mark, item]) => ({ is: 'item', mark: mark!, text: item! }))
    : [{ is: 'paragraph', text: lines.join(' ') }];
};

/** Blank lines part blocks, but for those in code. */
const blocksOf = (page: string): readonly Block[] =>
  page
    .replace(/<!--.*?-->\n?/gs, '')
    .split(/(^```[\s\S]*?^```$)/m)
    .flatMap(part => (part.startsWith('```') ? [part] : part.split(/\n{2,}/)))
    .map(part => part.replace(/^\n+|\n+$/g, ''))
    .filter(part => part !== '')
    .flatMap(blockOf);

const plain = (text: string): string => text.replace(/\*\*|`/g, '');

const INDENT = '  ';
/** Of the width, for all columns but the last. */
const MOST_FOR_TERMS = 0.5;

/** Columns in line where the last one has room enough; else what it says stands below the others. */
const tableLines = (rows: readonly (readonly string[])[], width: number): readonly string[] => {
  const table = rows.map(row => row.map(plain));
  const columns = (table[0]?.length ?? 1) - 1;
  const widths = Array.from(
    { length: columns },
    (_, at) => 2 + Math.max(...table.map(row => cells(row[at] ?? ''))),
  );
  const terms = widths.reduce((sum, one) => sum + one, INDENT.length);
  if (terms > width * MOST_FOR_TERMS)
    return table
      .slice(1)
      .flatMap(row => [
        ...wrap(`${INDENT}${row.slice(0, -1).join('  ')}`, width, INDENT),
        ...wrap(`${INDENT.repeat(3)}${row.at(-1)}`, width, INDENT.repeat(3)),
      ]);
  return table.flatMap(row => {
    const before = widths.map((wide, at) => (row[at] ?? '') + ' '.repeat(wide - cells(row[at] ?? '')));
    const [first = '', ...more] = wrap(row.at(-1) ?? '', width - terms);
    return [`${INDENT}${before.join('')}${first}`.trimEnd(), ...more.map(line => ' '.repeat(terms) + line)];
  });
};

const blockLines = (block: Block, width: number, paint: Paint): readonly string[] => {
  if (block.is === 'heading') return [paint(plain(block.text), 'strong')];
  if (block.is === 'code') return block.lines.map(line => `${INDENT.repeat(2)}${line}`.trimEnd());
  if (block.is === 'table') return tableLines(block.rows, width);
  const mark = block.is === 'item' ? `${block.mark} ` : '';
  return wrap(`${INDENT}${mark}${plain(block.text)}`, width, INDENT + ' '.repeat(mark.length));
};

/** Wider is hard to read. */
const WIDEST = 100;

/** A page for the terminal. */
export const topicPage = (topic: string, width: number, paint: Paint): string => {
  const wide = Math.min(width, WIDEST);
  const blocks = blocksOf(PAGES[topic] ?? '').map(block => blockLines(block, wide, paint).join('\n'));
  return `${blocks.join('\n\n')}\n`;
};

const marked = (text: string): string => roff(text.replaceAll('**', '')).replace(/`([^`]*)`/g, '\\fB$1\\fR');

const roffOf = (block: Block): readonly string[] => {
  if (block.is === 'heading')
    return block.depth === 1 ? [] : [block.depth === 2 ? '.SH' : '.SS', roff(plain(block.text))];
  if (block.is === 'code') return ['.PP', '.RS', '.nf', ...block.lines.map(roff), '.fi', '.RE'];
  if (block.is === 'item')
    return [`.IP ${block.mark === '-' ? '\\(bu 2' : `${block.mark} 4`}`, marked(block.text)];
  if (block.is === 'paragraph') return ['.PP', marked(block.text)];
  return block.rows
    .slice(1)
    .flatMap(row => ['.TP', marked(row.slice(0, -1).join('  ')), marked(row.at(-1) ?? '')]);
};

/** Every page as roff, by the name of its file. */
export const manPages = (version: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    TOPICS.map(([name, about, section]) => [
      `reaptop-${name}.${section}`,
      [
        `.TH REAPTOP\\-${name.toUpperCase()} ${section} "" "reaptop ${roff(version)}" "reaptop"`,
        // Flush left: lines with long words cannot be stretched.
        '.ad l',
        '.SH NAME',
        `reaptop\\-${name} \\- ${roff(about)}`,
        '.SH DESCRIPTION',
        ...blocksOf(PAGES[name] ?? '').flatMap(roffOf),
        '.SH SEE ALSO',
        '.BR reaptop (1)',
        '',
      ].join('\n'),
    ]),
  );
