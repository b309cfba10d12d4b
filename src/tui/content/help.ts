import { AUTO_WORDS, THEME_WORDS } from '../../model/look.ts';
import { wrap } from '../../words/wrap.ts';
import { CONTEXTS } from '../keys/context.ts';
import { BINDINGS } from '../keys/keymap.ts';
import { CONTEXT_TITLES, keyNames } from '../keys/table.ts';
import { COLUMNS } from '../look/columns.ts';
import { type Line, lineToWidth, run, toWidth } from '../view/line.ts';
import type { Screen } from '../view/screen.ts';
import { scrolledOverlay, titleRule } from './tabs.ts';

const KEYS = 16;

const entry = (left: string, text: string, width: number): readonly Line[] =>
  wrap(text, Math.max(12, width - KEYS - 3)).map((part, i) => [
    run('  '),
    run(toWidth(i === 0 ? left : '', KEYS), 'key'),
    run(part),
  ]);

/** Made from the table of bindings and the table of columns: help cannot say what is not so. */
export const helpContent = (width: number, ascii: boolean): readonly Line[] => [
  ...CONTEXTS.flatMap(context => [
    [run(` ${CONTEXT_TITLES[context]}`, 'strong')] as Line,
    ...BINDINGS.filter(b => b.context === context).flatMap(b =>
      entry(keyNames(b, ascii), b.description, width),
    ),
    [] as Line,
  ]),
  [run(' Themes', 'strong')],
  ...entry('auto', AUTO_WORDS, width),
  ...Object.entries(THEME_WORDS).flatMap(([name, words]) => entry(name, words, width)),
  [],
  [run(' Columns', 'strong')],
  ...COLUMNS.flatMap(c => entry(c.header || 'verdict', c.description, width)),
];

export const helpLines = (screen: Screen, rows: number): readonly Line[] => {
  const { layout, glyphs } = screen;
  const content = helpContent(layout.columns, glyphs.rule === '-');
  const { shown, more } = scrolledOverlay(content, rows - 1, screen);
  return [
    titleRule('Help', layout.columns, glyphs.rule, more),
    ...shown.map(line => lineToWidth(line, layout.columns, glyphs.ellipsis)),
  ];
};
